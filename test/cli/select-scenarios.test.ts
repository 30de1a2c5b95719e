/** The scenarios that `run` selects, lists and leaves out, and the shipped ones. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn } from '../architecture/files.ts'
import { serveExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { runCommand } from './fake-io.ts'

const scenario = (name: string, head = '') =>
  `version: 1\nname: ${name}\n${head}steps: [{ press: handover }, { agent: accept }, { expect: start }]\n`

const FILES = {
  scenarios: null,
  'scenarios/a.yaml': scenario('Lost parcel', 'tags: [smoke]\ndescription: A parcel is lost.\n'),
  'scenarios/b.yaml': scenario('Late parcel', 'tags: [smoke, slow]\nmatrix: { days: [1, 2] }\n'),
  'scenarios/c.yaml': scenario('Greeting'),
}

const run = (files: Record<string, string | null>, ...argv: string[]) => runCommand(['run', ...argv], { files })

const namesIn = (out: string) => [...out.matchAll(/^\S+ {2}(.+) {2}3 steps/gm)].map(([, name]) => name)

describe('a selection', () => {
  it.each<[string[], string[]]>([
    [['--skip', 'parcel'], ['Greeting']],
    [
      ['--skip', 'days=2', '--skip', 'greet'],
      ['Lost parcel', 'Late parcel [days=1]'],
    ],
    [
      ['--not-tag', 'slow'],
      ['Lost parcel', 'Greeting'],
    ],
    [['--tag', 'smoke', '--not-tag', 'slow'], ['Lost parcel']],
    [['--only', 'Greeting', '--only', 'parsel'], ['Greeting']],
  ])('%j: %j', async (flags, names) => {
    const { code, out } = await run(FILES, '--dry-run', ...flags)
    expect({ code, names: namesIn(out) }).toEqual({ code: 0, names })
  })

  it.each<[string[], number, string]>([
    [['--skip', 'greting'], 2, '--skip "greting" matches no scenario; did you mean Greeting?\n'],
    [['--not-tag', 'smok'], 2, '--not-tag smok matches no scenario; did you mean smoke?\n'],
    [['--only', 'parsel'], 4, 'No scenario in scenarios matches --only "parsel"; did you mean parcel?\n'],
    [['--only', 'Greeting', '--tag', 'smok'], 4, 'matches --only "Greeting" --tag smok; did you mean smoke?\n'],
    [['--only', 'Greeting', '--only', 'parsel'], 0, '--only "parsel" matches no scenario; did you mean parcel?\n'],
  ])('%j suggests a name, exit %d', async (flags, expected, message) => {
    const { code, err } = await run(FILES, '--dry-run', ...flags)
    expect([code, err]).toEqual([expected, expect.stringContaining(message)])
  })
})

describe('--list', () => {
  it('says what each scenario checks and needs', async () => {
    const { code, out } = await run(FILES, '--list')
    expect(code).toBe(0)
    expect(out).toMatch(/^Lost parcel {2}scenarios\/a\.yaml {2}\[smoke\]\n {4}A parcel is lost\.\n {4}needs accept\n\n/)
    expect(out).toContain('\n    2 variants: [days=1] [days=2]\n')
    expect(out).toMatch(/\n3 scenarios, 4 with their variants\n$/)
  })

  it('as JSON is one line for each', async () => {
    const { out } = await run(FILES, '--list', '--json', '--tag', 'slow')
    expect(JSON.parse(out)).toEqual({
      ...{ v: 1, type: 'scenario', name: 'Late parcel', description: null, file: 'scenarios/b.yaml' },
      ...{ line: 2, column: 7, tags: ['smoke', 'slow'], spec: [], needs: ['accept'], alone: null, steps: 3 },
      instances: ['Late parcel [days=1]', 'Late parcel [days=2]'],
    })
    expect(await run(FILES, '--json')).toMatchObject({ code: 2, err: expect.stringContaining('belongs to --list') })
  })
})

describe('the shipped scenarios', () => {
  const shipped = filesIn('scenarios', '.yaml').filter(file => !file.startsWith('parts/'))

  it('are listed with --builtin, and where there is no folder scenarios', async () => {
    const { out } = await run(FILES, '--builtin', '--list', '--json')
    const listed = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { file: string; description: string })
    expect(listed.map(({ file }) => file).sort()).toEqual(shipped.map(file => `builtin:${file}`))
    expect(listed.filter(({ description }) => !description)).toEqual([])
    const alone = await run({}, '--list')
    expect(alone.out).toContain('Happy path  builtin:happy-path.yaml  [smoke]\n')
    expect(alone.err).toContain('There is no folder scenarios here: the shipped scenarios are used')
  })

  it('are listed in groups, those of the user before them', async () => {
    const { out } = await run(FILES, 'scenarios', '--builtin', '--list')
    expect(out).toMatch(/scenarios\/c.*\nsmoke: .*happy-path.*\nflow: .*attachments.*\nrobustness: .*duplicate-events/s)
    const names = namesIn((await run(FILES, '--builtin', 'scenarios', '--dry-run')).out)
    expect(names.slice(0, 3)).toEqual(['Lost parcel', 'Late parcel [days=1]', 'Late parcel [days=2]'])
  })

  it('can be run by name', async () => {
    const { out } = await run({}, 'builtin:typing', '--dry-run')
    expect(out).toMatch(/^builtin:typing\.yaml:3 {2}Typing .*\n1 to run\n$/)
    const { code, err } = await run({}, 'builtin:typping.yaml')
    expect([code, err]).toEqual([2, expect.stringContaining('did you mean builtin:typing.yaml?')])
  })

  it('run in an empty folder, and a saved run of them can be evaluated again', async () => {
    const port = String(await freePort())
    const example = await serveExample({ platformUrl: `http://127.0.0.1:${port}` })
    const where = ['--port', port, '--target', example.webhookUrl, '--agent-driver', 'd.json']
    const flags = ['--builtin', '--only', 'happy path', '--report', 'pretty,json=r.json']
    const { code, out, err, cwd } = await run({ 'd.json': example.driver }, ...where, ...flags)
    expect(code, out + err).toBe(0)
    const rerun = expect.stringMatching(/^npx handover-sim run builtin:happy-path\.yaml --seed \d+ --target http:/)
    expect(JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8')).scenarios).toMatchObject([{ rerun }])
    const again = await runCommand(['report'], { cwd })
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^PASS builtin:happy-path\.yaml > Happy path/)])
  })
})

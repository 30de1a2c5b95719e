/** Compares pages of docs/reference with the program: examples, errors, headers and names that no script generates. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseSource } from '../../src/base/files/document.ts'
import { KEPT_BODY_CHARS } from '../../src/base/runtime/transport.ts'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { COMMANDS, loadCommand, main } from '../../src/commands/main.ts'
import { readyLine } from '../../src/commands/start.ts'
import { OPTION_NAMES } from '../../src/evaluation/scenario/format/checks.ts'
import { CALL_NAMES } from '../../src/evaluation/scenario/format/fields.ts'
import { Step, VERBS } from '../../src/evaluation/scenario/format/step.ts'
import { startSimulator } from '../../src/index.ts'
import { EVENT_EXAMPLES } from '../../src/platform/contract/examples.ts'
import { defaultKnobs } from '../../src/platform/contract/knobs.ts'
import { DEFAULTS } from '../../src/platform/simulator/options.ts'
import { createPlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { signingHeaders } from '../../src/platform/webhooks/request.ts'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'
import { resolveSettings } from '../../src/server/config/resolve.ts'
import { ConfigFile, layerOf } from '../../src/server/config/schema.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { complaints, HEAD, load } from '../scenario/format/written.ts'
import { blocks, inlineCode, pathOf, read, section } from './pages.ts'

describe('docs/reference/cli.md', () => {
  const PAGE = read('docs/reference/cli.md')
  const printedBy = async (argv: string[], env = {}) => {
    const io = fakeIo(folderWith())
    expect(await main(argv, env, io)).toBe(0)
    return io.stdout.text
  }

  it('has a section for each command, as the help has', async () => {
    const help = (await printedBy(['--help'])).split('Commands:')[1]!
    const listed = [...help.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!).filter(name => name !== 'help')
    expect(listed.sort()).toEqual(Object.keys(COMMANDS).sort())
    for (const name of listed) expect(section(PAGE, `\`${name}\``)).toContain(`<!-- generated: flags ${name} -->`)
  })

  it('shows the fields of the ready line', async () => {
    await using server = await startSimulator({ port: 0 })
    const shown = JSON.parse(blocks(PAGE, 'json')[0]!)
    const address = { url: 'http://127.0.0.1:4747', inspectorUrl: 'http://127.0.0.1:4747/', pid: 4242 }
    expect(JSON.stringify(shown)).toBe(JSON.stringify({ ...readyLine(server), ...address }))
  })

  it('shows the output of config', async () => {
    const [typed = '', ...lines] = blocks(section(PAGE, '`config`'), '')[0]!.split('\n')
    expect(typed).toBe('$ HANDOVER_SIM_PORT=5005 npx handover-sim config --set typing.webhook=off')
    const printed = await printedBy(['config', '--set', 'typing.webhook=off'], { HANDOVER_SIM_PORT: '5005' })
    expect(printed.split('\n').slice(0, 2)).toEqual(lines.slice(0, 2))
  })

  it.each([
    ['start', '--webhook-url', ['What it shows and writes']],
    ['run', '--target', ['Which scenarios', 'How they run']],
    ['certify', '--target', ['Which checks', 'How they run']],
  ] as const)('the help of %s has groups of all its flags, the most used first', async (name, first, own) => {
    const help = await printedBy([name, '--help'])
    const groups = [...help.matchAll(/^(\S.*):\n(?= {2}-)/gm)].map(([, group]) => group)
    expect(groups).toEqual(['Most used', ...own, 'Settings of the simulator', 'Options'])
    const listed = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag!)
    expect(listed[0]).toBe(first)
    const { flags } = await loadCommand(name)
    const visible = Object.entries(flags).filter(([, about]) => typeof about !== 'object' || !about.hidden)
    expect(listed.sort()).toEqual(visible.map(([flag]) => flag.split(' ')[0]!).sort())
  })
})

describe('docs/reference/config.md', () => {
  const PAGE = read('docs/reference/config.md')
  const [example = ''] = blocks(PAGE, 'yaml')
  const around = (cwd: string) => ({ cwd, env: {}, nodeVersion: process.version })

  it('has an example with every section, with which a simulator starts', async () => {
    const sections = Object.keys(parseSource('config.yaml', example, false).value as object)
    expect(sections.sort()).toEqual(
      knownKeys(ConfigFile, [])
        .filter(key => key !== '$schema')
        .sort(),
    )
    const cwd = folderWith({ 'handover-sim.config.yaml': example })
    const { options, values, agentDriver } = await resolveSettings({}, around(cwd))
    expect(values).toMatchObject({ 'webhook.retry': ['1s', '5s'], 'typing.webhook': 'off', 'summarize.latency': '2s' })
    expect(agentDriver).toBe('driver.yaml')
    const sim = createPlatformSimulator({ ...options, clock: 'virtual' })
    const chat = await sim.chat({ botId: 2002 })
    await chat.says('Where is my PARCEL?')
    expect(chat.transcript.at(-1)!.text).toBe('Let me look that up.')
    await sim.close()
  })

  it('has an example in JavaScript that loads', async () => {
    const cwd = folderWith({ 'mine.mjs': blocks(PAGE, 'js')[0]! })
    const { values } = await resolveSettings({ config: 'mine.mjs' }, around(cwd))
    expect(values).toMatchObject({ port: 4747, 'webhook.retry': ['1s', '5s'] })
  })

  it('shows the error of an invalid file', () => {
    const name = 'handover-sim.config.yaml'
    const parse = () => layerOf(name, parseSource(name, 'version: 1\nprot: 5\n', false))
    expect(parse).toThrow(blocks(PAGE, '')[0]!.trimEnd())
  })
})

describe('docs/reference/scenarios.md', () => {
  const PAGE = read('docs/reference/scenarios.md')
  const yaml = blocks(PAGE, 'yaml')
  const [part = ''] = yaml.filter(text => text.includes('kind: partial'))
  const asFile = (text: string) => (text.startsWith('- ') ? `${HEAD}steps:\n${text.replace(/^/gm, '  ')}` : text)

  it.each(yaml.filter(text => text !== part))('example %# loads', async text => {
    const [loaded, ...others] = await load({ 's.yaml': asFile(text), 'parts/accept.yaml': part }, ['s.yaml'])
    expect([loaded?.warnings, others]).toEqual([[], []])
  })

  it('has an example in TypeScript that loads', async () => {
    const build = new URL('../../src/evaluation/scenario/build/index.ts', import.meta.url).href
    const code = blocks(PAGE, 'ts')[0]!.replace("'handover-sim/scenario'", JSON.stringify(build))
    const [loaded] = await load({ 's.mjs': code }, ['s.mjs'])
    expect([loaded!.name, loaded!.value.steps]).toEqual(['Lost parcel', expect.objectContaining({ length: 6 })])
  })

  it('shows the error of the program', async () => {
    expect(`${await complaints(`${HEAD}steps:\n  - wait: 5\n`)}\n`).toBe(blocks(PAGE, '')[0])
  })

  it('names every verb, call and option', () => {
    const words = section(PAGE, 'Steps') + section(PAGE, 'Parts')
    const keys = [[], ['check'], ['deliver'], ['agent']].flatMap(path => knownKeys(Step, path))
    const names = [...VERBS, ...CALL_NAMES, ...OPTION_NAMES, ...keys]
    expect(names.filter(word => !new RegExp(`\\b${word}\\b`).test(words))).toEqual([])
  })
})

describe('docs/reference/checks', () => {
  it('has a page for each check, and for nothing else', () => {
    const pages = readdirSync(pathOf('docs/reference/checks')).filter(name => name !== 'README.md')
    expect(pages.sort()).toEqual(CHECKS.map(({ id }) => `${id}.md`).sort())
  })

  it.each(CHECKS)('$id says what it means, how it goes wrong and how to fix it', ({ id, title, profile }) => {
    const page = read(`docs/reference/checks/${id}.md`)
    expect(page).toMatch(/^# .*\n\n(`[^`]|[^#`])/)
    expect(page.split('\n')[0]).toBe(`# ${id} ${title}`)
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, name]) => name)).toEqual(['How it goes wrong', 'How to fix it'])
    const driver = profile === 'webhook' ? '' : ' --agent-driver driver.yaml'
    const command = `npx handover-sim certify --target http://127.0.0.1:3000/webhook${driver} --only ${id}\n`
    expect(blocks(page, 'sh')).toEqual([command])
    const languages = [...section(page, 'How to fix it').matchAll(/^```(\w+)$/gm)].map(([, language]) => language)
    expect(new Set(languages).size).toBeGreaterThanOrEqual(3)
  })
})

it('docs/reference/webhooks.md has the JSON of every event, the signature headers and the size limit', () => {
  const page = read('docs/reference/webhooks.md')
  expect(blocks(page, 'json').map(text => JSON.parse(text))).toEqual(Object.values(EVENT_EXAMPLES))
  const headers = signingHeaders('examplekey', '{"foo":1,"bar":2}', '', defaultKnobs())
  expect(inlineCode(page)).toEqual(expect.arrayContaining(Object.entries(headers).flat()))
  expect(page).toContain(`${KEPT_BODY_CHARS / 1024} KB`)
})

it('docs/reference/control-api.md has the limit of the journal', () => {
  expect(read('docs/reference/control-api.md')).toContain(`${DEFAULTS.journalLimit.toLocaleString('en')} entries`)
})

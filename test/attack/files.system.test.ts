/** Attacks the readers of files with mutated scenario, driver and config files, and with files that never end. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { expect, onTestFinished, test } from 'vitest'
import { parseSources } from '../../src/base/files/document.ts'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { createDraw, type Draw } from './mutations.ts'
import { rounds, seed } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Of the processor: a file that takes longer hangs the command. */
const SLOW_MS = 5_000
const ROUNDS = rounds(150, 3)

const ajv = new Ajv2020({ strict: false, allErrors: false })
ajvFormats.default(ajv)
const schemaOf = (name: string) => ajv.compile(JSON.parse(readFileSync(`${ROOT}schema/${name}.v1.json`, 'utf8')))
const SCHEMAS = { scenario: schemaOf('scenario'), driver: schemaOf('driver'), config: schemaOf('config') }
type Kind = keyof typeof SCHEMAS

interface Seed {
  readonly kind: Kind
  /** The name under which mutations are written. */
  readonly name: string
  readonly text: string
}

const CONFIG = /```yaml\n([\s\S]*?)```/.exec(readFileSync(`${ROOT}docs/reference/config.md`, 'utf8'))?.[1] ?? ''
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8')
const scenarios = readdirSync(`${ROOT}scenarios`).filter(name => name.endsWith('.yaml'))
const SEEDS: readonly Seed[] = [
  ...scenarios.map(
    name => ({ kind: 'scenario', name: 'scenarios/mutated.yaml', text: read(`scenarios/${name}`) }) as const,
  ),
  { kind: 'driver', name: 'driver.yaml', text: read('examples/intermediary/driver.yaml') },
  { kind: 'config', name: 'handover-sim.config.yaml', text: CONFIG },
]

const TOKENS = [
  ...[
    '&a ',
    '*a',
    '!x ',
    '<<: *a',
    '[',
    ']',
    '{',
    '}',
    '- ',
    '? ',
    ': ',
    '|\n',
    '>-\n',
    '---\n',
    '...\n',
    '#',
    '"',
    "'",
  ],
  ...['\t', '%YAML 1.1\n', '$(x)', '$$(', '$(env.X)', '{{ x }}', '$re: "("', 'include: mutated.yaml', 'include: x.mjs'],
  ...['times: 99999999', '\r', '\u2028', '\ufeff', '\0'],
]

/** Cuts, doubles and replaces parts of a text. */
function mutatedText({ below, one, hostileText, chance }: Draw, text: string): string {
  let mutated = text
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(mutated.length + 1)
    const length = below(chance(4) ? 200 : 12)
    const part = mutated.slice(at, at + length)
    const put = one([
      () => one(TOKENS),
      hostileText,
      () => '',
      () => part + part,
      () => String.fromCharCode(below(0x250)),
    ])()
    mutated = mutated.slice(0, at) + put + mutated.slice(at + length)
  }
  return mutated
}

/** JSON is YAML, so mutated values are written as JSON. */
function mutatedFile(draw: Draw, { text }: Seed): string {
  if (draw.chance(2)) return mutatedText(draw, text)
  const [source] = parseSources('seed.yaml', text, false)
  let value = draw.mutated(source?.value)
  while (draw.chance(3)) value = draw.mutated(value)
  return JSON.stringify(value) ?? ''
}

const msSince = (begun: NodeJS.CpuUsage) => Math.round(process.threadCpuUsage(begun).user / 1000)

/** What is wrong with how a command treats a file; null when nothing is. */
async function problemWith(folder: string, { kind, name }: Seed, text: string): Promise<string | null> {
  writeFileSync(join(folder, name), text)
  const io = fakeIo(folder)
  const begun = process.threadCpuUsage()
  const code = await main(['validate', name], {}, io)
  const shown = io.stdout.text + io.stderr.text
  if (msSince(begun) > SLOW_MS) return `took ${msSince(begun)} ms`
  if (/Internal error|^ +at \S+ \(/m.test(shown) || (code !== 0 && code !== 2)) return `${code}: ${shown.slice(0, 600)}`
  if (code !== 0 || !shown.startsWith(`ok  ${name}: ${kind === 'scenario' ? '' : kind}`)) return null
  return refusedBySchema(kind, name, text)
}

function refusedBySchema(kind: Kind, name: string, text: string): string | null {
  const validate = SCHEMAS[kind]
  const refused = parseSources(name, text, false).find(({ value }) => !validate(value ?? {}))
  return refused === undefined ? null : `accepted, but the JSON schema says ${ajv.errorsText(validate.errors)}`
}

function attackedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(`${ROOT}scenarios/parts`, join(folder, 'scenarios/parts'), { recursive: true })
  return folder
}

test(
  'a mutated scenario, driver or config file is refused at its place, or fits its JSON schema',
  async () => {
    const found: string[] = []
    const folder = attackedFolder()
    for (let round = 0; round < ROUNDS && found.length < 20; round++) {
      const draw = createDraw(seed(), `file ${round}`)
      const from = draw.one(SEEDS)
      const text = mutatedFile(draw, from)
      const problem = await problemWith(folder, from, text)
      if (problem !== null) found.push(`round ${round}, ${from.name}: ${problem}\n${text.slice(0, 3000)}`)
    }
    expect(found).toEqual([])
  },
  120_000 + ROUNDS * 1000,
)

test('a device, a pipe or too many bytes in place of a body are refused', async () => {
  const pipe = join(attackedFolder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const nothing = new Uint8Array()
  for (const [body, input] of [
    ['/dev/zero', nothing],
    [pipe, nothing],
    ['-', new Uint8Array(65 * 2 ** 20)],
  ] as const) {
    const args = [`${ROOT}bin/handover-sim.js`, 'verify', '--body', body, '--signature', 'x', '--key', 'k']
    const { status, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8', timeout: 60_000 })
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/a pipe, a device|at most 67108864/),
    })
  }
})

/** Starts a simulator with long chats that exports them to `state.json` at its end. Returns its process. */
async function startWithExport(cwd: string): Promise<ChildProcess> {
  const argv = [`${ROOT}bin/handover-sim.js`, 'start', '--port', '0', '--output', 'quiet', '--export', 'state.json']
  const child = spawn(process.execPath, argv, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout!, 'data')
  const history = [{ user: 'x'.repeat(20_000_000) }]
  const url = String(line).replace('Ready: ', '').trim()
  const { status } = await fetch(`${url}/_sim/chats`, { method: 'POST', body: JSON.stringify({ history }) })
  expect(status).toBe(201)
  return child
}

test('exports that are killed keep the old file, and the next one leaves no draft', { timeout: 600_000 }, async () => {
  const folder = attackedFolder()
  rmSync(join(folder, 'scenarios'), { recursive: true })
  const file = join(folder, 'state.json')
  writeFileSync(file, 'old')
  const drafts = () => readdirSync(folder).filter(name => name.endsWith('.tmp'))
  for (let round = 0; round < rounds(3, 10); round++) {
    const child = await startWithExport(folder)
    const ended = once(child, 'exit')
    const before = drafts().length
    const watcher = watch(folder, () => drafts().length > before && child.kill('SIGKILL'))
    child.kill('SIGTERM')
    await ended
    watcher.close()
  }
  // When a process was faster than its end, the file is whole.
  expect(readFileSync(file, 'utf8')).toMatch(/^(old|\{.*\}\n)$/s)
  const last = await startWithExport(folder)
  last.kill('SIGTERM')
  await once(last, 'exit')
  expect(readdirSync(folder)).toEqual(['state.json'])
})

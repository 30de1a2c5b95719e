/** Attacks the readers of files with mutated scenario, driver and config files, and kills their writers. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { expect, onTestFinished, test } from 'vitest'
import { parseSources } from '../../src/base/files/document.ts'
import { main } from '../../src/commands/main.ts'
import { filesIn } from '../architecture/files.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, read } from '../docs/pages.ts'
import { createDraw, type Draw } from './mutations.ts'
import { rounds, seed } from './rounds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Of the processor: a file that takes longer hangs the command. */
const SLOW_MS = 5_000
const ROUNDS = rounds(150, 3)
const LIMIT_MS = 120_000 + ROUNDS * 1000

const ajv = new Ajv2020({ strict: false, allErrors: false })
ajvFormats.default(ajv)
const schemaOf = (name: string) => ajv.compile(JSON.parse(read(`schema/${name}.v1.json`)))
const SCHEMAS = { scenario: schemaOf('scenario'), driver: schemaOf('driver'), config: schemaOf('config') }
type Kind = keyof typeof SCHEMAS
type Seed = (typeof SEEDS)[number]

const SCENARIOS = filesIn('scenarios', '.yaml').map(file => read(`scenarios/${file}`))
/** Valid files, with the names under which their mutations are written. */
const SEEDS: readonly { readonly kind: Kind; readonly name: string; readonly text: string }[] = [
  ...SCENARIOS.map(text => ({ kind: 'scenario', name: 'scenarios/mutated.yaml', text }) as const),
  { kind: 'driver', name: 'driver.yaml', text: read('examples/intermediary/driver.yaml') },
  { kind: 'config', name: 'handover-sim.config.yaml', text: blocks(read('docs/reference/config.md'), 'yaml')[0]! },
]

const TOKENS = [
  ...'&a |*a|!x |<<: *a|[|]|{|}|- |? |: |>-\n|---\n|...\n|#|"|\'|%YAML 1.1\n|$(x)|$$(|$(env.X)|{{ x }}'.split('|'),
  ...['|\n', '\t', '\r', '\u2028', '\ufeff', '\0', '$re: "("', 'include: mutated.yaml', 'times: 99999999'],
]

/** Cuts, doubles and replaces parts of a text. */
function mutatedText({ below, one, hostileText, chance }: Draw, text: string): string {
  let mutated = text
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(mutated.length + 1)
    const length = below(chance(4) ? 200 : 12)
    const part = mutated.slice(at, at + length)
    const char = () => String.fromCharCode(below(0x250))
    const put = one([() => one(TOKENS), hostileText, () => '', () => part + part, char])()
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

/** What is wrong with how a command treats a file; null when nothing is. */
async function problemWith(folder: string, { kind, name }: Seed, text: string): Promise<string | null> {
  writeFileSync(join(folder, name), text)
  const io = fakeIo(folder)
  const begun = process.threadCpuUsage()
  const code = await main(['validate', name], {}, io)
  const shown = io.stdout.text + io.stderr.text
  const ms = process.threadCpuUsage(begun).user / 1000
  if (ms > SLOW_MS) return `took ${ms} ms`
  if (/Internal error|^ +at \S+ \(/m.test(shown) || (code !== 0 && code !== 2)) return `${code}: ${shown.slice(0, 600)}`
  if (code !== 0 || !shown.startsWith(`ok  ${name}: ${kind === 'scenario' ? '' : kind}`)) return null
  const validate = SCHEMAS[kind]
  const isRefused = parseSources(name, text, false).some(({ value }) => !validate(value ?? {}))
  return isRefused ? `accepted, but the JSON schema says ${ajv.errorsText(validate.errors)}` : null
}

test('a mutated scenario, driver or config file is refused, or fits its JSON schema', {
  timeout: LIMIT_MS,
}, async () => {
  const found: string[] = []
  const folder = folderWith({ scenarios: null })
  cpSync(`${ROOT}scenarios/parts`, join(folder, 'scenarios/parts'), { recursive: true })
  for (let round = 0; round < ROUNDS && found.length < 20; round++) {
    const draw = createDraw(seed(), `file ${round}`)
    const from = draw.one(SEEDS)
    const text = mutatedFile(draw, from)
    const problem = await problemWith(folder, from, text)
    if (problem !== null) found.push(`round ${round}, ${from.name}: ${problem}\n${text.slice(0, 3000)}`)
  }
  expect(found).toEqual([])
})

/** Starts a simulator with long chats that exports them to `state.json` at its end. Returns its process. */
async function startWithExport(cwd: string): Promise<ChildProcess> {
  const argv = [`${ROOT}bin/handover-sim.js`, 'start', '--port', '0', '--output', 'quiet', '--export', 'state.json']
  const child = spawn(process.execPath, argv, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout!, 'data')
  const body = JSON.stringify({ history: [{ user: 'x'.repeat(4_000_000) }] })
  const url = String(line).replace('Ready: ', '').trim()
  for (let chat = 0; chat < 5; chat++)
    expect((await fetch(`${url}/_sim/chats`, { method: 'POST', body })).status).toBe(201)
  return child
}

test('exports that are killed keep the old file, and the next one leaves no draft', { timeout: 600_000 }, async () => {
  const folder = folderWith({ 'state.json': 'old' })
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
  expect(readFileSync(join(folder, 'state.json'), 'utf8')).toMatch(/^(old|\{.*\}\n)$/s)
  const last = await startWithExport(folder)
  last.kill('SIGTERM')
  await once(last, 'exit')
  expect(readdirSync(folder)).toEqual(['state.json'])
})

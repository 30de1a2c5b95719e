/* biome-ignore-all lint/suspicious/noConsole: it is a command of maintainers. */
/**
 * Runs `node test/explorer/explore-bugs.ts [--only NAME,...] [--for 3m] [--jobs J] [--seed S] [--explore-only] [--known-only]`:
 * runs the shipped scenarios and the checks against each bug of `test/mutants/conversation-bugs.ts`, then explores it, and
 * prints what found it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { outputOf } from '../../scripts/output-of.ts'
import { keysOf } from '../../src/base/objects.ts'
import { CONVERSATION_BUGS, type ConversationBugName } from '../mutants/conversation-bugs.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'

const BIN = join(fileURLToPath(new URL('../..', import.meta.url)), 'bin/handover-sim.js')

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    for: { type: 'string', default: '3m' },
    jobs: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    'explore-only': { type: 'boolean' },
    'known-only': { type: 'boolean' },
  },
})
const wanted = values.only?.split(',')
const names = keysOf(CONVERSATION_BUGS).filter(name => wanted?.includes(name) ?? true)
console.log('| bug | scenarios | checks | explore | acts |\n|---|---|---|---|---|')
await Promise.all(Array.from({ length: Number(values.jobs) }, workOff))

async function workOff(): Promise<void> {
  for (let name = names.shift(); name !== undefined; name = names.shift())
    console.log(`| ${[name, ...(await rowOf(name))].join(' | ')} |`)
}

async function rowOf(name: ConversationBugName): Promise<string[]> {
  const isKnown = async (...args: string[]) => {
    if (values['explore-only']) return ''
    const { code, stdout } = await command(name, ...args, '--report', 'json')
    if (code === 0) return 'pass'
    const { checks = [], scenarios = [] }: Report = JSON.parse(stdout || '{}')
    const failed = [...checks, ...scenarios].filter(
      ({ outcome }) => !['pass', 'info', 'not_applicable'].includes(outcome),
    )
    return `**${failed.map(({ id, name: title }) => id ?? title).join(', ')}**`
  }
  const [scenarios, checks] = [await isKnown('run', '--builtin'), await isKnown('certify')]
  if (values['known-only']) return [scenarios, checks, '', '']
  const { stderr, end } = await command(name, 'explore', '--for', values.for, '--seed', values.seed)
  // Only what has a scenario file counts.
  const found = [...stderr.matchAll(/^FAILED \S+ [^:]+: (.*)\n.*\n {2}(?!no scenario file)/gm)].map(
    ([, acts = '']) => acts,
  )
  const counts = found.map(acts => Number(/^(\d+) acts,/.exec(acts)?.[1] ?? acts.split(', ').length))
  const least = Math.min(...counts)
  const conversations = /^\d+ conversations/m.exec(stderr)?.[0] ?? end
  return [scenarios, checks, found[counts.indexOf(least)] ?? `not found in ${conversations}`, String(least)]
}

interface Report {
  readonly checks?: readonly { readonly id: string; readonly name?: string; readonly outcome: string }[]
  readonly scenarios?: readonly { readonly id?: string; readonly name: string; readonly outcome: string }[]
}

async function command(name: ConversationBugName, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'handover-bugs-'))
  try {
    const port = await freePort()
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', writeDriver(folder, port, name)]
    return await outputOf([BIN, ...args, ...where, '--port', '0'], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

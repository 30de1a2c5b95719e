/** Runs `npm run bench [name...]`: measures the built package beside yardsticks, and prints medians as a table. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { beside, PEERS } from './beside.ts'
import { calls } from './figures/calls.ts'
import { shipped } from './figures/package.ts'
import { page } from './figures/page.ts'
import { scenarios } from './figures/scenarios.ts'
import { tests } from './figures/tests.ts'
import { canPin } from './processes.ts'
import type { Figures, Settings } from './rounds.ts'
import { type Row, TABLE_HEAD, tableLine } from './rows.ts'

const FIGURES: Figures = { ...calls, ...shipped, ...tests, ...scenarios, ...page }

function readFlags() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        beside: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        node: { type: 'string', default: process.execPath },
      },
    })
    const { node, json } = values
    for (const name of positionals) if (!Object.hasOwn(FIGURES, name)) throw unknown('figure', name, FIGURES)
    for (const name of values.beside) if (!Object.hasOwn(PEERS, name)) throw unknown('server', name, PEERS)
    if (spawnSync(node, ['--version']).status !== 0) throw new Error(`--node ${node} does not run.`)
    if (spawnSync('wrk', ['--version']).error)
      throw new Error('wrk, which sends the requests, is not installed: apt-get install wrk (Debian)')
    if (json !== undefined) writeFileSync(json, '[]\n')
    return { ...values, names: positionals }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

const unknown = (what: string, name: string, all: object) =>
  new Error(`Unknown ${what} ${name}. Use one of ${Object.keys(all).join(', ')}.`)

const { quick, json, node, names, beside: peers } = readFlags()
const settings: Settings = { node, isQuick: quick, rounds: quick ? 1 : 7, seconds: quick ? 1 : 2 }
if (quick) console.error('One short round: a look, not a figure.')
if (!canPin) console.error('Server and load have no core each, because there is no taskset, or only one core.')
const rows: object[] = []
console.log(TABLE_HEAD)

function show(figure: string, found: readonly Row[]): void {
  for (const row of found) console.log(tableLine(row))
  rows.push(...found.map(row => ({ figure, ...row })))
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`)
}

for (const name of peers) {
  try {
    show(`beside-${name}`, await beside(settings, name, PEERS[name]!))
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
    console.error(`${name} is not compared. ${reason}`)
    process.exitCode = 3
  }
}
for (const [name, measure] of Object.entries(FIGURES))
  if (names.includes(name) || (names.length === 0 && peers.length === 0)) show(name, await measure(settings))

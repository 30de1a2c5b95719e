/** Runs `npm run bench [name...]`: measures the built package beside yardsticks, and prints medians as a table. */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { beside } from './figures/beside.ts'
import { coldStart } from './figures/cold-start.ts'
import { deliveries, slowReceiver } from './figures/deliveries.ts'
import { executable } from './figures/executable.ts'
import { explore } from './figures/explore.ts'
import { inProcess, interception } from './figures/in-process.ts'
import { load } from './figures/load.ts'
import { manyChats } from './figures/many-chats.ts'
import { messageMemory, typingMemory } from './figures/memory.ts'
import { npx } from './figures/npx.ts'
import { page } from './figures/page.ts'
import { proxy } from './figures/proxy.ts'
import { log, message, transcripts, typingStarts, typingStops } from './figures/requests.ts'
import { scenarioRounds, scenarios } from './figures/scenarios.ts'
import { hasWrk } from './load.ts'
import { canPin } from './processes.ts'
import { type Row, TABLE_HEAD, tableLine } from './rows.ts'
import { createSettings, type Settings } from './settings.ts'

/** Measured only by name. */
const LONG = new Set(['scenario-rounds', 'load', 'executable', 'page'])

type Figure = (settings: Settings) => Promise<Row[]>

const FIGURES: Readonly<Record<string, Figure>> = {
  message,
  log,
  typing_start: typingStarts,
  typing_stop: typingStops,
  transcript: transcripts,
  proxy,
  deliveries,
  'slow-receiver': slowReceiver,
  'cold-start': coldStart,
  npx,
  executable,
  'in-process': inProcess,
  interception,
  'memory-typing': typingMemory,
  'memory-messages': messageMemory,
  'many-chats': manyChats,
  scenarios,
  explore,
  page,
  load,
  'scenario-rounds': scenarioRounds,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    beside: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    node: { type: 'string' },
  },
})
const unknown = positionals.filter(name => !Object.hasOwn(FIGURES, name))
if (unknown.length > 0) {
  console.error(`Unknown figure ${unknown.join(', ')}. Use one of ${Object.keys(FIGURES).join(', ')}.`)
  process.exit(2)
}

const settings = createSettings({ quick: values.quick ?? false, node: values.node ?? process.execPath })
for (const note of notes()) console.error(note)
const rows: Row[] = []
console.log(TABLE_HEAD)
for await (const found of measureAll()) {
  for (const row of found) console.log(tableLine(row))
  rows.push(...found)
  if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
}

async function* measureAll(): AsyncGenerator<Row[]> {
  for (const name of values.beside ?? []) yield await beside(settings, name)
  if (values.beside && positionals.length === 0) return
  for (const [name, measure] of Object.entries(FIGURES))
    if (positionals.length > 0 ? positionals.includes(name) : !LONG.has(name)) yield await measure(settings)
}

function notes(): string[] {
  return [
    ...(settings.quick ? ['One short round: a look, not a figure.'] : []),
    ...(hasWrk
      ? []
      : [
          'wrk is not installed (Debian: apt-get install wrk). Node processes send the requests instead. They cost more than a bare server, so ratios drift towards 1.',
        ]),
    ...(canPin ? [] : ['Server and load are not pinned to a core each: there is no taskset, or only one core.']),
  ]
}

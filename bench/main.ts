/** Runs `npm run bench [name...]`: measures the built package and bare baselines alternately, and prints medians. */

import { adapters } from './figures/adapters.ts'
import { coldStart } from './figures/cold-start.ts'
import { deliveries, slowReceiver } from './figures/deliveries.ts'
import { inProcess } from './figures/in-process.ts'
import { install } from './figures/install.ts'
import { memoryUse } from './figures/memory.ts'
import { manyChats, requests } from './figures/requests.ts'
import type { Figure } from './process.ts'

const FIGURES: Record<string, () => Promise<Figure[]>> = {
  'cold-start': coldStart,
  requests,
  deliveries,
  'slow-receiver': slowReceiver,
  'in-process': inProcess,
  adapters,
  install,
  memory: memoryUse,
  'many-chats': manyChats,
}

const selected = process.argv.slice(2)
const unknown = selected.filter(name => !Object.hasOwn(FIGURES, name))
if (unknown.length > 0) {
  console.error(`Unknown figure ${unknown.join(', ')}. Use one of ${Object.keys(FIGURES).join(', ')}.`)
  process.exit(2)
}

console.log('| figure | handover-sim | baseline | ratio | goal |\n|---|---|---|---|---|')
for (const [name, measure] of Object.entries(FIGURES)) {
  if (selected.length > 0 && !selected.includes(name)) continue
  for (const { name: title, value, baseline, ratio, goal } of await measure()) {
    console.log(`| ${title} | ${value} | ${baseline} | ${ratio} | ${goal} |`)
  }
}

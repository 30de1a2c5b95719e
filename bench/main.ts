/** `npm run bench [name...]`: measures the built package against bare yardsticks in the same run, interleaved, medians. */

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

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !Object.hasOwn(FIGURES, name))
if (unknown.length > 0) {
  console.error(`No such figure: ${unknown.join(', ')}. There are: ${Object.keys(FIGURES).join(', ')}.`)
  process.exit(2)
}

console.log('| figure | handover-sim | bare | ratio | goal |\n|---|---|---|---|---|')
for (const [name, measure] of Object.entries(FIGURES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for (const { name: title, value, baseline, ratio, goal } of await measure()) {
    console.log(`| ${title} | ${value} | ${baseline} | ${ratio} | ${goal} |`)
  }
}

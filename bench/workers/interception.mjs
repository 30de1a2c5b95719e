/**
 * Measures microseconds per POST message that `fetch` sends through msw, and through the interceptors, beside a bare msw
 * handler: each way in a process of its own, in alternate slices. Prints one JSON line.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inChangingOrder } from './alternately.mjs'

const scale = Number(process.argv[2] ?? 1)
const SIDES = ['bareMsw', 'msw', 'intercepted', 'fixedAnswer']
const FIRST_CALLS = 300
const CALLS = 1000 * scale

const file = fileURLToPath(new URL('interception-side.mjs', import.meta.url))
const processes = Object.fromEntries(SIDES.map(side => [side, fork(file, [side])]))
await Promise.all(Object.values(processes).map(one => once(one, 'message')))

/**
 * Returns the time and the processor time of each side, in microseconds per call. The mean of all slices contains the
 * garbage collections, which come in few of them. Processor time includes what V8 does after a slice.
 */
async function measure(slices, calls) {
  const found = Object.fromEntries(SIDES.map(side => [side, []]))
  await inChangingOrder(slices, SIDES, async side => {
    processes[side].send(calls)
    const [took] = await once(processes[side], 'message')
    found[side].push(took)
  })
  return side => {
    const wallUs = found[side].reduce((sum, one) => sum + one.wallUs, 0)
    const processorUs = found[side].at(-1).afterUs - found[side][0].beforeUs
    return { wall: wallUs / slices / calls, processor: processorUs / slices / calls }
  }
}

const first = await measure(1, FIRST_CALLS)
await measure(8, CALLS)
const warm = await measure(12, CALLS)
const measured = SIDES.map(side => [side, { ...warm(side), first: first(side).wall }])
process.stdout.write(`${JSON.stringify(Object.fromEntries(measured))}\n`)
for (const one of Object.values(processes)) one.disconnect()

/** Measures what tests use, in their process: calls without a socket and through msw, creation and reset, exploration. */
import { runProcess, SERVER_CORE, workerFile } from '../processes.ts'
import { alternately, type Figures, fewer, microseconds, type Settings } from '../rounds.ts'
import { createRow } from '../rows.ts'

/** Returns the microseconds of each way in each round, which has processes of its own: V8 optimizes differently in each. */
async function measure(settings: Settings, processes: readonly string[], calls: number): Promise<number[][]> {
  const count = fewer(settings, calls, calls / 10)
  const found = await alternately(settings.rounds, processes, ways => microseconds(settings, ways, count))
  return found.flatMap(rounds => rounds[0]!.map((_, way) => rounds.map(one => one[way]!)))
}

export const tests: Figures = {
  async 'in-process'(settings) {
    const [bare, ours] = await measure(settings, ['bareFetch,fetch'], 2000)
    const [created] = await measure(settings, ['create'], 300)
    return [
      createRow('in-process, fetch(Request), beside a bare fetch handler', 'us', ours!, ['ratio', '<=', 1.5], bare),
      createRow('createSimulator(), chat() and reset()', 'us', created!, ['value', '<=', 1000]),
    ]
  },

  async msw(settings) {
    // In two processes, because each would pay for clients that the other has patched.
    const [bare, ours] = await measure(settings, ['bareMsw', 'msw'], 600)
    return [createRow('through msw, beside a bare msw handler', 'us', ours!, ['ratio', '<=', 1.15], bare)]
  },

  async 'explore-in-test'(settings) {
    const count = fewer(settings, 1000, 100)
    const command = [settings.node, workerFile('explore.mjs'), `${count}`]
    const rounds = fewer(settings, 3, 1)
    const [seconds] = await alternately(rounds, [command], async one => Number(await runProcess(one, SERVER_CORE)))
    return [createRow(`explore in a test: ${count} conversations`, 's', seconds!, ['value', '<=', 20])]
  },
}

/** Measures what tests use, in their process: calls without a socket and through msw, creation and reset, exploration. */
import { runProcess, SERVER_CORE, workerFile } from '../processes.ts'
import { alternately, type Figures, fewer, type Settings } from '../rounds.ts'
import { createRow } from '../rows.ts'

/** Returns the microseconds of a call. Each round has processes of its own, because V8 optimizes a little differently in each. */
function microseconds(settings: Settings, ways: readonly string[], calls: number): Promise<number[][]> {
  const count = `${fewer(settings, calls, calls / 10)}`
  return alternately(settings.rounds, ways, async way => {
    const command = [settings.node, workerFile('seconds-per-call.mjs'), way, count]
    return Number(await runProcess(command, SERVER_CORE)) * 1e6
  })
}

export const tests: Figures = {
  async 'in-process'(settings) {
    const [bare, ours] = await microseconds(settings, ['bareFetch', 'fetch'], 20_000)
    const [created] = await microseconds(settings, ['create'], 3000)
    return [
      createRow('in-process, fetch(Request), beside a bare fetch handler', 'us', ours!, ['ratio', '<=', 1.5], bare),
      createRow('createSimulator(), chat() and reset()', 'us', created!, ['value', '<=', 1000]),
    ]
  },

  async msw(settings) {
    const [bare, ours] = await microseconds(settings, ['bareMsw', 'msw'], 6000)
    return [createRow('through msw, beside a bare msw handler', 'us', ours!, ['ratio', '<=', 1.15], bare)]
  },

  async 'explore-in-test'(settings) {
    const count = fewer(settings, 1000, 100)
    const command = [settings.node, workerFile('explore.mjs'), `${count}`]
    const measure = async () => Number(await runProcess(command, SERVER_CORE))
    const [seconds] = await alternately(fewer(settings, 3, 1), [null], measure)
    return [createRow(`explore in a test: ${count} conversations`, 's', seconds!, ['value', '<=', 20])]
  },
}

/** Measures the commands that talk to an intermediary, against the reference intermediary, on both cores. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, runProcess, temporaryFolder } from '../processes.ts'
import { alternately, type Figures, fewer } from '../rounds.ts'
import { createRow } from '../rows.ts'

/** A conversation of 80 seconds, with ten texts of each side. */
const CONVERSATION = `version: 1
name: Busy
timeouts: { scenario: 5m }
steps:
  - press: handover
  - agent: accept
  - expect: start
  - repeat:
      times: 10
      steps: [{ think: 7s..9s }, { user: Where? }, { agent: { says: There. } }, { expect: { message: { message: There. } } }]
  - agent: leave
  - expect: end
`
/** As many conversations begin in a second; after 100 seconds as many end. */
const RATE = 25
const LATE_MS = 20

export const scenarios: Figures = {
  async scenarios(settings) {
    const seconds = async (args: readonly string[]) => {
      const from = performance.now()
      await runProcess([settings.node, COMMAND, 'run', ...args, '--self-test'], null)
      return (performance.now() - from) / 1000
    }
    const runs = fewer(settings, 1000, 50)
    const repeated = ['scenarios/happy-path.yaml', '--repeat', `${runs}`, '--jobs', '400']
    const [happy] = await alternately(settings.rounds, [repeated], seconds)
    const [shipped] = await alternately(fewer(settings, 3, 1), [['--builtin', '--jobs', '8']], seconds)
    return [
      createRow(`${runs} runs of the happy path, 400 at once`, 's', happy!, ['value', '<=', 5]),
      createRow('the shipped scenarios once, 8 at once', 's', shipped!, ['value', '<=', 10]),
    ]
  },

  async explore(settings) {
    const perMinute: number[] = []
    for (let seed = 1; seed <= fewer(settings, 3, 1); seed++) {
      const flags = ['--for', settings.isQuick ? '20s' : '60s', '--jobs', '16', '--seed', `${seed}`]
      const output = await runProcess([settings.node, COMMAND, 'explore', '--self-test', ...flags], null)
      const [, count, minutes = 0, seconds] = /^(\d+) conversations? in (?:(\d+) min )?([\d.]+) s/m.exec(output) ?? []
      perMinute.push(Number(count) / (Number(minutes) + Number(seconds) / 60))
    }
    const name = 'explore with the command: conversations a minute, 16 at once'
    return [createRow(name, '', perMinute, ['value', '>=', 300])]
  },

  /** The most that were active in a second in which the timers of the process were not late. */
  async load({ node, isQuick }) {
    using folder = temporaryFolder()
    const [file, report] = [join(folder.path, 'scenario.yaml'), join(folder.path, 'load.json')]
    writeFileSync(file, CONVERSATION)
    const arrivals = ['--arrivals', `0..${RATE}/s over 20s, ${RATE}/s for 200s`, '--for', isQuick ? '10s' : '120s']
    const flags = ['--users', '3000', '--no-own-limit', '--fail-if', 'late > 100%', '--report', `json=${report}`]
    await runProcess([node, COMMAND, 'load', file, '--self-test', ...arrivals, ...flags], null)
    const { points } = JSON.parse(readFileSync(report, 'utf8')) as { points: Record<string, number>[] }
    const active = points.map(point => (point.loop_delay_ms! < LATE_MS ? point.active! : 0))
    const name = `conversations of \`load\` active at once, ${RATE * 20} texts a second, timers less than ${LATE_MS} ms late`
    return [createRow(name, '', [Math.max(...active)])]
  },
}

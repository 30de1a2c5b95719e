/** Kills `handover-sim exec` at any moment, and looks for processes that it left. `npm test` builds first. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { wallDelay } from '../../src/base/runtime/clock.ts'
import { processRuns } from '../../src/base/runtime/node.ts'
import { createRandom } from '../../src/base/runtime/random.ts'
import { rounds, seed } from './rounds.ts'

const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))
/** Later, everything has started. */
const LATEST_MS = 700
const AT_ONCE = 5
const KILLS = rounds(25, 8)

test.runIf(existsSync('/proc/self/stat'))(
  'a killed exec leaves no process',
  async () => {
    const mark = `left-by-exec-${process.pid}`
    const program = `// ${mark}\nsetInterval(() => {}, 1000)`
    const left = () =>
      readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && commandOf(pid).includes(mark) && processRuns(Number(pid)))
    onTestFinished(() => {
      for (const pid of left()) process.kill(Number(pid), 'SIGKILL')
    })
    const random = createRandom(seed(), 'moments of kills')
    const kill = async () => {
      const command = ['--', process.execPath, '-e', program]
      const child = spawn(process.execPath, [BIN, 'exec', '--grace', '100ms', ...command], { stdio: 'ignore' })
      const ended = once(child, 'exit')
      await wallDelay(random.next() * LATEST_MS)
      child.kill('SIGKILL')
      await ended
    }
    for (let done = 0; done < KILLS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, kill))
    await expect.poll(left, { timeout: 20_000 }).toEqual([])
  },
  300_000,
)

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

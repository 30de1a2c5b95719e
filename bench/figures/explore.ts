/** Measures exploration: in the process of the intermediary, and with the shipped command against the reference intermediary. */
import { spawnSync } from 'node:child_process'
import { ROOT, workerFile } from '../processes.ts'
import { createRow, type Goal, type Row, valueAtMost } from '../rows.ts'
import { fewer, type Settings } from '../settings.ts'

const JOBS = 16
const LEAST_A_MINUTE: Goal = { of: 'value', is: 'at least', limit: 300 }

export async function explore(settings: Settings): Promise<Row[]> {
  return [...inProcess(settings), overHttp(settings)]
}

function outputOf(command: readonly string[]): string {
  const [file = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
  if (status === 0) return `${stdout}\n${stderr}`
  throw new Error(`Failed to explore: exit code ${status}\n${stdout.slice(0, 4000)}\n${stderr.slice(-4000)}`)
}

function inProcess(settings: Settings): Row[] {
  const conversations = fewer(settings, 1000, 100)
  const rounds = Array.from({ length: fewer(settings, 3, 1) }, () => {
    const output = outputOf([settings.node, workerFile('explore.mjs'), String(conversations)])
    return JSON.parse(output) as { seconds: number; acts: number }
  })
  const acts = Math.round((rounds[0]?.acts ?? 0) / conversations)
  const name = `explore in a test: ${conversations} conversations of ${acts} acts`
  const row = { figure: 'explore', name, unit: 's', values: rounds.map(({ seconds }) => seconds) }
  return [createRow({ ...row, goal: valueAtMost(20) })]
}

function overHttp(settings: Settings): Row {
  const values = Array.from({ length: fewer(settings, 3, 1) }, (_, round) => {
    const budget = ['--for', settings.quick ? '10s' : '60s', '--jobs', `${JOBS}`, '--seed', `${round + 1}`]
    const output = outputOf([settings.node, `${ROOT}bin/handover-sim.js`, 'explore', '--self-test', ...budget])
    const [, conversations, minutes = '0', seconds] =
      /^(\d+) conversations, .* in (?:(\d+) min )?([\d.]+) s,/m.exec(output) ?? []
    return Number(conversations) / (Number(minutes) + Number(seconds) / 60)
  })
  const name = `explore with the command: conversations a minute, ${JOBS} at once`
  return createRow({ figure: 'explore', name, unit: '', values, goal: LEAST_A_MINUTE })
}

/** Measures what unit tests use: requests without a socket, through `fetch`, msw and the interceptors; creation and reset. */
import { runProcess, SERVER_CORE, workerFile } from '../processes.ts'
import { atMost, createRow, type Goal, type Row, valueAtMost } from '../rows.ts'
import type { Settings } from '../settings.ts'

type Measured = Readonly<Record<string, number>>

/** Each round is a process of its own, because V8 optimizes a little differently in each. */
async function runRounds(settings: Settings, worker: string): Promise<Measured[]> {
  const rounds: Measured[] = []
  const command = [settings.node, workerFile(worker), settings.quick ? '0.1' : '1']
  for (let round = 0; round < settings.rounds; round++)
    rounds.push(JSON.parse(await runProcess(command, { core: SERVER_CORE })))
  return rounds
}

interface Compared {
  readonly name: string
  readonly of: string
  readonly beside?: string
  readonly goal: Goal
}

function rowsOf(figure: string, rounds: readonly Measured[], compared: readonly Compared[]): Row[] {
  const values = (of: string) => rounds.map(round => round[of] ?? Number.NaN)
  return compared.map(({ name, of, beside, goal }) =>
    createRow({ figure, name, unit: 'us', values: values(of), goal, ...(beside && { yardstick: values(beside) }) }),
  )
}

export async function inProcess(settings: Settings): Promise<Row[]> {
  return rowsOf('in-process', await runRounds(settings, 'in-process.mjs'), [
    { name: 'in-process, plain data', of: 'plain', goal: valueAtMost(8) },
    {
      name: 'in-process, fetch(Request), beside a bare fetch handler',
      of: 'fetch',
      beside: 'bareFetch',
      goal: atMost(1.3),
    },
    { name: 'createSimulator() and reset()', of: 'create', goal: valueAtMost(1000) },
    { name: 'chat() and reset()', of: 'reset', goal: valueAtMost(1000) },
  ])
}

export async function interception(settings: Settings): Promise<Row[]> {
  return rowsOf('interception', await runRounds(settings, 'interception.mjs'), [
    { name: 'through msw 2, beside a bare msw handler', of: 'msw', beside: 'bareMsw', goal: atMost(1.05) },
    {
      name: 'through the interceptors, beside a bare msw handler',
      of: 'intercepted',
      beside: 'bareMsw',
      goal: atMost(1.05),
    },
  ])
}

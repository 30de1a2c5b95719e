/** Measures what unit tests use: requests without a socket, through `fetch`, msw and the interceptors; creation and reset. */
import { runProcess, SERVER_CORE, workerFile } from '../processes.ts'
import { atMost, createRow, type Goal, type Row, valueAtMost } from '../rows.ts'
import type { Settings } from '../settings.ts'

type Measured = Readonly<Record<string, number>>
type MeasuredSides = Readonly<Record<string, Measured>>

/** Each round is a process of its own, because V8 optimizes a little differently in each. */
async function runRounds<T>(settings: Settings, worker: string): Promise<T[]> {
  const rounds: T[] = []
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
  return rowsOf('in-process', await runRounds<Measured>(settings, 'in-process.mjs'), [
    {
      name: 'in-process, plain data, beside parsing and writing its JSON',
      of: 'plain',
      beside: 'barePlain',
      goal: valueAtMost(15),
    },
    {
      name: 'in-process, fetch(Request), beside a bare fetch handler',
      of: 'fetch',
      beside: 'bareFetch',
      goal: atMost(1.5),
    },
    { name: 'createSimulator() and reset()', of: 'create', goal: valueAtMost(1000) },
    { name: 'chat() and reset()', of: 'reset', goal: valueAtMost(1000) },
  ])
}

const SIDES = [
  { side: 'msw', name: 'through msw 2', goal: atMost(1.15) },
  { side: 'intercepted', name: 'through the interceptors', goal: atMost(1.5) },
]

/** The first calls are rows of their own, because many test files send no more. */
export async function interception(settings: Settings): Promise<Row[]> {
  const rounds = await runRounds<MeasuredSides>(settings, 'interception.mjs')
  const row = (side: string, name: string, field: string, goal: Goal) => {
    const values = (of: string) => rounds.map(round => round[of]?.[field] ?? Number.NaN)
    const measured = { figure: 'interception', name, unit: 'us', values: values(side), yardstick: values('bareMsw') }
    return createRow({ ...measured, goal })
  }
  return SIDES.flatMap(({ side, name, goal }) => [
    row(side, `${name}, beside a bare msw handler`, 'wall', goal),
    row(side, `${name}, processor time`, 'processor', goal),
    row(side, `${name}, first 300 calls`, 'first', atMost(2)),
  ])
}

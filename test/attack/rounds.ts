/**
 * Says how many rounds an attack runs and with which seed, and records its figures. `npm test` runs the default number
 * of rounds. `ATTACK_ROUNDS` sets the number. `ATTACK_MINUTES` sets the time of one test file, for `npm run attack`.
 */
import { appendFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** The time that the rounds of one file in `npm test` take, on a machine with other work. */
const USUAL_SECONDS = 6

/** Returns how many rounds to run. `usual` is the number of a test in `npm test`, which takes so many `seconds`. */
export function rounds(usual: number, seconds = USUAL_SECONDS): number {
  const { ATTACK_ROUNDS, ATTACK_MINUTES } = process.env
  if (ATTACK_ROUNDS !== undefined) return positive('ATTACK_ROUNDS', ATTACK_ROUNDS)
  if (ATTACK_MINUTES === undefined) return usual
  return Math.max(usual, Math.round((usual * positive('ATTACK_MINUTES', ATTACK_MINUTES) * 60) / seconds))
}

/** Returns the seed of all random choices: `ATTACK_SEED`, or 1. */
export const seed = (): number => Number(process.env.ATTACK_SEED ?? 1)

/** What one test of the suite tried, and how often it survived. */
export interface Figures {
  /** The name of the test file without `.test.ts`. */
  readonly part: string
  /** A short noun phrase for the table. */
  readonly tried: string
  readonly count: number
  /** How many attempts ended as they must. */
  readonly survived: number
  /** The longest time of one attempt. */
  readonly worstMs: number
  /** Resident memory of the process before and after, in MB; null when it is not measured. */
  readonly memoryMb: readonly [before: number, after: number] | null
}

/** Appends figures to the file in `ATTACK_FIGURES`, from which `npm run attack` makes its table. */
export function record(figures: Figures): void {
  const file = process.env.ATTACK_FIGURES
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figures)}\n`)
}

const memoryMb = (): number => Math.round(process.memoryUsage.rss() / 1e6)

/** Runs one attempt and measures it; it survives when the function does not throw. */
export type Attempt = <T>(run: () => T | Promise<T>) => Promise<T>

/**
 * Starts counting the attempts of the running test, and records the figures when the test ends. `readMemory` returns the
 * memory of the attacked process in MB, when that is another one.
 */
export function startAttack(part: string, tried: string, readMemory = memoryMb): Attempt {
  const before = readMemory()
  let count = 0
  let survived = 0
  let worstMs = 0
  onTestFinished(() => record({ part, tried, count, survived, worstMs, memoryMb: [before, readMemory()] }))
  return async run => {
    count++
    const startedAt = performance.now()
    const result = await run()
    worstMs = Math.max(worstMs, performance.now() - startedAt)
    survived++
    return result
  }
}

/** Attempts that find problems instead of throwing; an attempt with a problem did not survive. */
export interface Search {
  readonly found: string[]
  try(run: () => string[] | Promise<string[]>): Promise<string[]>
}

class ProblemsFound extends Error {}

/** Starts a search like `startAttack`. The test ends with `expect(search.found).toEqual([])`. */
export function startSearch(part: string, tried: string): Search {
  const attempt = startAttack(part, tried)
  const found: string[] = []
  return {
    found,
    async try(run) {
      let problems: string[] = []
      const attempted = attempt(async () => {
        problems = await run()
        if (problems.length > 0) throw new ProblemsFound(problems[0])
      })
      await attempted.catch(error => {
        if (!(error instanceof ProblemsFound)) throw error
      })
      found.push(...problems)
      return problems
    },
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`Failed to read ${name}: expected a number above 0, received "${text}".`)
  return value
}

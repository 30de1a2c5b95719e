/**
 * Says how many rounds an attack runs and with which seed. A usual run has the default number of rounds. `ATTACK_ROUNDS`
 * sets the number, and `ATTACK_MINUTES` the time of one test file, for `npm run attack`.
 */

/** The time that the rounds of one file take in a usual run. */
const USUAL_SECONDS = 6

/** Returns how many rounds to run. `usual` is the number of a usual run, which takes so many `seconds`. */
export function rounds(usual: number, seconds = USUAL_SECONDS): number {
  const { ATTACK_ROUNDS, ATTACK_MINUTES } = process.env
  if (ATTACK_ROUNDS !== undefined) return positive('ATTACK_ROUNDS', ATTACK_ROUNDS)
  if (ATTACK_MINUTES === undefined) return usual
  return Math.max(usual, Math.round((usual * positive('ATTACK_MINUTES', ATTACK_MINUTES) * 60) / seconds))
}

/** Returns the seed of all random choices: `ATTACK_SEED`, or 1. */
export const seed = (): number => Number(process.env.ATTACK_SEED ?? 1)

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`Failed to read ${name}: expected a number above 0, received "${text}".`)
  return value
}

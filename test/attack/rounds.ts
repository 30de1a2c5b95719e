/**
 * Says how many rounds an attack runs and with which seed. A usual run has the default number of rounds. `ATTACK_ROUNDS`
 * sets the number, and `ATTACK_MINUTES` the time of one test file, for `npm run attack`.
 */

/** Returns how many rounds to run. `usual` is the number of a usual run, which takes so many `seconds`. */
export function rounds(usual: number, seconds = 6): number {
  const { ATTACK_ROUNDS, ATTACK_MINUTES = 0 } = process.env
  return Number(ATTACK_ROUNDS ?? Math.max(usual, Math.round((usual * Number(ATTACK_MINUTES) * 60) / seconds)))
}

/** Returns the seed of all random choices: `ATTACK_SEED`, or 1. */
export const seed = (): number => Number(process.env.ATTACK_SEED ?? 1)

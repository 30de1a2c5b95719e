/**
 * Fixes the seed of property tests, so that a failing build is caused by a change of code and not by new cases.
 * `FAST_CHECK_SEED=7 npm test` tries other cases.
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) })

/**
 * Property tests try the same cases every time, so that a red build is about the change that was made. Hunting for
 * more is a run of its own: `FAST_CHECK_SEED=7 npm test`.
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) })

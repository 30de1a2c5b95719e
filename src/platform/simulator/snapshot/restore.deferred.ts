/** Loads `restore.ts` at the first call where bundles are CommonJS, because few simulators need it. */
import { applySnapshot, checkSnapshot, restoreSnapshot } from './restore.ts'

export const snapshotRestore = () => ({ applySnapshot, checkSnapshot, restoreSnapshot })

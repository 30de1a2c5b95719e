/** Loads `capture.ts` at the first call where bundles are CommonJS, because few simulators need it. */
import { captureLazily, captureSnapshot } from './capture.ts'

export const snapshotCapture = () => ({ captureLazily, captureSnapshot })

/** Loads `limited-log.ts` at the first call where bundles are CommonJS: a simulator that serves nothing shows nothing. */
import { createLimitedLog } from './limited-log.ts'

export const limitedLog = () => ({ createLimitedLog })

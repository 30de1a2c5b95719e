/** Loads `parse-fault.ts` at the first call where bundles are CommonJS, because its schemas take long to create. */
import { parseFault } from './parse-fault.ts'

export const faultParser = () => ({ parseFault })

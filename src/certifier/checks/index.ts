/** Lists every check, in the order of reports. */
import type { CheckDefinition } from '../check.ts'
import { SIGNATURE_CHECKS } from './signature.ts'

export const CHECKS: readonly CheckDefinition[] = [...SIGNATURE_CHECKS]

/** Lists every check, in the order of reports. */
import type { CheckDefinition } from '../check.ts'
import { FAULT_CHECKS } from './faults.ts'
import { HANDOVER_CHECKS } from './handover.ts'
import { SIGNATURE_CHECKS } from './signature.ts'

export const CHECKS: readonly CheckDefinition[] = [...SIGNATURE_CHECKS, ...HANDOVER_CHECKS, ...FAULT_CHECKS]

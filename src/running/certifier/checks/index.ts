/** Lists every check, in the order of reports. */
import type { CheckDefinition } from '../check.ts'
import { ACKNOWLEDGEMENT_CHECKS } from './acknowledgement.ts'
import { DELIVERY_CHECKS } from './deliveries.ts'
import { EVENT_CHECKS } from './events.ts'
import { FAULT_CHECKS } from './faults.ts'
import { HANDOVER_CHECKS } from './handover.ts'
import { LOAD_CHECKS } from './load.ts'
import { OPTIONAL_CHECKS } from './optional-capabilities.ts'
import { RESTART_CHECKS } from './restart.ts'
import { SIGNATURE_CHECKS } from './signature.ts'
import { TEXT_CHECKS } from './texts.ts'
import { USER_LEAVES_CHECKS } from './user-leaves.ts'
import { WIRE_CHECKS } from './wire.ts'

export const CHECKS: readonly CheckDefinition[] = [
  ...SIGNATURE_CHECKS,
  ...WIRE_CHECKS,
  ...ACKNOWLEDGEMENT_CHECKS,
  ...EVENT_CHECKS,
  ...DELIVERY_CHECKS,
  ...HANDOVER_CHECKS,
  ...USER_LEAVES_CHECKS,
  ...TEXT_CHECKS,
  ...OPTIONAL_CHECKS,
  ...FAULT_CHECKS,
  ...LOAD_CHECKS,
  ...RESTART_CHECKS,
]

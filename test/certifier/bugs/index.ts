/** Lists every bug that the certification must find. */
import type { FoundBug } from '../mutants.ts'
import { ACKNOWLEDGEMENT_BUGS } from './acknowledgement.ts'
import { DELIVERIES_BUGS } from './deliveries.ts'
import { DESK_BUGS } from './desk.ts'
import { EVENTS_BUGS } from './events.ts'
import { FAULTS_BUGS } from './faults.ts'
import { HANDOVER_BUGS } from './handover.ts'
import { RESILIENCE_BUGS } from './resilience.ts'
import { SIGNATURE_BUGS } from './signature.ts'
import { TEXTS_BUGS } from './texts.ts'
import { WIRE_BUGS } from './wire.ts'

export const ALL_BUGS: readonly FoundBug[] = [
  ...ACKNOWLEDGEMENT_BUGS,
  ...DELIVERIES_BUGS,
  ...DESK_BUGS,
  ...EVENTS_BUGS,
  ...FAULTS_BUGS,
  ...HANDOVER_BUGS,
  ...RESILIENCE_BUGS,
  ...SIGNATURE_BUGS,
  ...TEXTS_BUGS,
  ...WIRE_BUGS,
]

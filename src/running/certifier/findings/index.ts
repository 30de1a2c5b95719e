/** Collects the findings of all families, and renders one. */

import { ACKNOWLEDGEMENT_FINDINGS, type AcknowledgementFindings } from './acknowledgement.ts'
import { CONVERSATION_FINDINGS, type ConversationFindings } from './conversation.ts'
import type { FindingTable } from './define.ts'
import { DELIVERY_FINDINGS, type DeliveryFindings } from './deliveries.ts'
import { DESK_FINDINGS, type DeskFindings } from './desk.ts'
import { EVENT_FINDINGS, type EventFindings } from './events.ts'
import { FAULT_FINDINGS, type FaultFindings } from './faults.ts'
import { LOAD_FINDINGS, type LoadFindings } from './load.ts'
import { OBSERVATION_FINDINGS, type ObservationFindings } from './observation.ts'
import { RESTART_FINDINGS, type RestartFindings } from './restart.ts'
import { SIGNATURE_FINDINGS, type SignatureFindings } from './signature.ts'
import { WIRE_FINDINGS, type WireFindings } from './wire.ts'

/** What each finding reports, by its code. */
export interface FindingDetails
  extends AcknowledgementFindings,
    ConversationFindings,
    DeliveryFindings,
    EventFindings,
    DeskFindings,
    FaultFindings,
    LoadFindings,
    ObservationFindings,
    RestartFindings,
    SignatureFindings,
    WireFindings {}

export type FindingCode = keyof FindingDetails

const TEXTS: FindingTable<FindingDetails> = {
  ...ACKNOWLEDGEMENT_FINDINGS,
  ...CONVERSATION_FINDINGS,
  ...DELIVERY_FINDINGS,
  ...EVENT_FINDINGS,
  ...DESK_FINDINGS,
  ...FAULT_FINDINGS,
  ...LOAD_FINDINGS,
  ...OBSERVATION_FINDINGS,
  ...RESTART_FINDINGS,
  ...SIGNATURE_FINDINGS,
  ...WIRE_FINDINGS,
}

/** MUST: the platform's description demands it. SHOULD: good practice. INFO: a fact without a judgement. */
export type FindingLevel = 'MUST' | 'SHOULD' | 'INFO'

/** Something that a check observed and that its pass rule forbids, or that it only reports (INFO). */
export interface CheckFinding<Code extends FindingCode = FindingCode> {
  readonly level: FindingLevel
  readonly code: Code
  readonly details: FindingDetails[Code]
  /** Journal entries that show it. */
  readonly entrySeqs: readonly number[]
}

export interface RenderedFinding {
  readonly happened: string
  readonly expected: string
  readonly next: string
}

export function findingTexts<Code extends FindingCode>({
  code,
  details,
}: Pick<CheckFinding<Code>, 'code' | 'details'>): RenderedFinding {
  const texts = TEXTS[code]
  const render = (text: string | ((details: FindingDetails[Code]) => string)) =>
    typeof text === 'string' ? text : text(details)
  return { happened: render(texts.happened), expected: render(texts.expected), next: render(texts.next) }
}

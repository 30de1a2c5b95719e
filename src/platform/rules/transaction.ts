/**
 * Collects the results of one operation: webhook events and notes for the journal, findings, and the assumptions it
 * made. The caller commits it: first its own entry, then the effects, which that entry caused.
 */
import type { AssumptionName } from '../contract/assumptions.ts'
import type { Finding, NoteContent } from '../journal/entry.ts'
import type { EventRecord } from './event-record.ts'

export type Effect = EventRecord | NoteContent

export interface Transaction {
  readonly effects: Effect[]
  readonly findings: Finding[]
  readonly assumed: AssumptionName[]
}

export const createTransaction = (): Transaction => ({ effects: [], findings: [], assumed: [] })

/** Records that the response depends on these assumptions. */
export function assumed(transaction: Transaction, ...names: readonly AssumptionName[]): void {
  for (const name of names) if (!transaction.assumed.includes(name)) transaction.assumed.push(name)
}

export function addFinding(transaction: Transaction, rule: string, message: string): void {
  transaction.findings.push({ rule, message })
}

export function note(
  transaction: Transaction,
  name: string,
  chatId: string | undefined,
  detail: Record<string, unknown> = {},
): void {
  transaction.effects.push({
    kind: 'note',
    ...(chatId === undefined ? {} : { chat_id: chatId }),
    note: name,
    ...detail,
  })
}

/**
 * What one operation leaves behind: webhook events and notes to append to the journal, findings, and the
 * assumption rows it leaned on. The caller commits it: first its own entry, then these, caused by it.
 */
import type { WebhookEvent, WebhookEventName } from '../contract/events.ts'
import type { EventContent, Finding, NoteContent } from '../journal/entry.ts'

export type Effect = EventContent | NoteContent

export interface Tx {
  readonly effects: Effect[]
  readonly findings: Finding[]
  readonly rows: number[]
}

export const createTx = (): Tx => ({ effects: [], findings: [], rows: [] })

export function lean(tx: Tx, ...rows: number[]): void {
  for (const row of rows) if (!tx.rows.includes(row)) tx.rows.push(row)
}

export function find(tx: Tx, rule: string, message: string): void {
  tx.findings.push({ rule, message })
}

export function note(tx: Tx, name: string, chatId: string | undefined, detail: Record<string, unknown> = {}): void {
  tx.effects.push({ kind: 'note', ...(chatId === undefined ? {} : { chat_id: chatId }), note: name, ...detail })
}

export function emit(tx: Tx, chatId: string, deliveryId: string, payload: WebhookEvent): void {
  const event: WebhookEventName = payload.event
  tx.effects.push({ kind: 'event', chat_id: chatId, event, delivery_id: deliveryId, payload })
}

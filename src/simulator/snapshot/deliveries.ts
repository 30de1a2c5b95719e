/** What is due or on its way, as rows of a snapshot, and back. */
import type { Deadline } from '../../platform/deadlines.ts'
import type { State } from '../../platform/state.ts'
import type { KeptJob, Stage } from '../../webhooks/job.ts'
import type { DeadlineRow, DeliveryRow } from './shape.ts'

export const deadlineRows = ({ deadlines }: State): DeadlineRow[] =>
  deadlines
    .list()
    .map(({ key, atMs, deadline: { chatId, ...rest } }) => ({ key, at_ms: atMs, chat_id: chatId, ...rest }))

export function deadlineFromRow({ kind, chat_id: chatId, text, buttons }: DeadlineRow): Deadline {
  return kind === 'reply' ? { kind, chatId, text: text ?? '', buttons: buttons ?? [] } : { kind, chatId }
}

export function deliveryRow(job: KeptJob, rank: (order: number) => number): DeliveryRow {
  const { stage } = job
  const due = stage.kind === 'due' ? { due: { at_ms: stage.atMs, order: rank(stage.order), next: stage.next } } : {}
  return {
    chat_id: job.chatId,
    delivery_id: job.deliveryId,
    event: job.event,
    body: job.body,
    seq: job.seq,
    attempt: job.attempt,
    copy: job.copy,
    laned: job.laned,
    stage: stage.kind,
    ...due,
    passing: job.passing,
    struck: job.strike,
  }
}

export const jobFromRow = (row: DeliveryRow): KeptJob => ({
  chatId: row.chat_id,
  deliveryId: row.delivery_id,
  event: row.event,
  body: row.body,
  seq: row.seq,
  attempt: row.attempt,
  copy: row.copy,
  laned: row.laned,
  stage: stageFrom(row),
  passing: row.passing,
  strike: row.struck,
})

function stageFrom({ stage, due }: DeliveryRow): Stage {
  if (stage !== 'due') return { kind: stage }
  return { kind: 'due', atMs: due!.at_ms, order: due!.order, next: due!.next }
}

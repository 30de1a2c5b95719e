/**
 * Turns the journal of a scenario into rows for a diagram: an event or a call with its answer, an action of user or agent,
 * a fault, a step. Every text in a row is one safe line.
 */

import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { Failure } from '../evaluator/failure.ts'
import type { ScenarioResult } from '../evaluator/verdict.ts'
import type { DriverCallEntry, InboxItem } from '../scenario/run-events.ts'
import {
  answerOf,
  inboxRow,
  isInboxRead,
  type RowContent,
  rowContent,
  stepEndedRow,
  stepStartedRow,
  type TimelineRow,
} from './rows.ts'

/** The input of a timeline. Failures outside of every scenario have no chats and no steps. */
export interface TimelineSource extends Pick<ScenarioResult, 'journal' | 'conversations' | 'steps'> {
  readonly failures: readonly TimelineFailure[]
}

type TimelineFailure = Pick<Failure, 'step' | 'entrySeqs'>

type Draft = { -readonly [Key in keyof TimelineRow]: TimelineRow[Key] } & { entrySeqs: number[] }

interface Builder {
  /** `at_ms` of the first entry; null before it. */
  startMs: number | null
  /** The name of a chat; null when it is not one of the scenario. */
  readonly nameOf: (chatId: string) => string | null
  readonly claimedBy: ReadonlyMap<number, number>
  readonly conversationOfStep: ReadonlyMap<number, string>
  readonly rows: Draft[]
  /** Events by delivery id, until their first answer. */
  readonly unanswered: Map<string, Draft>
  /** The last row of each inbox, and what was in it. */
  readonly inboxes: Map<string, { readonly row: Draft; readonly content: string; readonly items: readonly InboxItem[] }>
  readonly failedSteps: ReadonlySet<number | undefined>
  /** Numbers of the steps under way. */
  readonly underWay: Set<number>
}

/** Oldest first. */
export function timelineOf(source: TimelineSource): TimelineRow[] {
  const builder = createBuilder(source)
  for (const entry of source.journal) add(builder, entry)
  for (const row of builder.unanswered.values()) row.answer = 'no answer'
  const marked = new Set(source.failures.flatMap(({ entrySeqs }) => entrySeqs))
  const rows = builder.rows.map(row => ({ ...row, failed: row.failed || row.entrySeqs.some(seq => marked.has(seq)) }))
  return rows.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
}

/** Rows that grow with a journal, in the order of their entries. */
export interface LiveTimeline {
  /** A row changes when a later entry answers it. */
  readonly rows: readonly TimelineRow[]
  /** Returns the row that shows the entry; null when another entry repeats it. */
  add(entry: Entry): TimelineRow | null
  /** Removes the oldest rows, those that began at or before `seq`. */
  dropUntil(seq: number): void
}

/** For a journal that grows and belongs to no scenario. */
export function createLiveTimeline(nameOf: (chatId: string) => string | null): LiveTimeline {
  const builder = { ...createBuilder({ conversations: {}, steps: [], failures: [] }), nameOf }
  const { rows } = builder
  return {
    rows,
    add: entry => add(builder, entry),
    dropUntil(seq) {
      const first = rows.findIndex(row => row.seq > seq)
      rows.splice(0, first === -1 ? rows.length : first)
    },
  }
}

const createBuilder = ({ conversations, steps, failures }: Omit<TimelineSource, 'journal'>): Builder => ({
  failedSteps: new Set(failures.map(({ step }) => step?.number)),
  startMs: null,
  nameOf: namesIn(conversations),
  claimedBy: new Map(steps.flatMap(({ number, claimed }) => claimed.map(seq => [seq, number] as const))),
  conversationOfStep: new Map(steps.map(({ number, conversation }) => [number, conversation])),
  rows: [],
  unanswered: new Map(),
  inboxes: new Map(),
  underWay: new Set(),
})

function namesIn(conversations: TimelineSource['conversations']): Builder['nameOf'] {
  const names = new Map(Object.entries(conversations).map(([conversation, chat]) => [chat, conversation]))
  return chatId => names.get(chatId) ?? null
}

/** Returns the row of the entry. */
function add(builder: Builder, entry: Entry): Draft | null {
  builder.startMs ??= entry.at_ms
  if (entry.kind === 'delivery') return addDelivery(builder, entry)
  if (isInboxRead(entry)) return addInbox(builder, entry)
  if (entry.kind === 'note' && /^step_(started|ended)$/.test(entry.note)) return addStep(builder, entry)
  const row = push(builder, entry, rowContent(entry))
  if (row !== null && entry.kind === 'event') builder.unanswered.set(entry.delivery_id, row)
  return row
}

/** The first answer belongs to the event's own row; retries, copies and manual events have their own. */
function addDelivery(builder: Builder, entry: EntryOf<'delivery'>): Draft | null {
  const row = builder.unanswered.get(entry.delivery_id)
  const sentMs = entry.at_ms - entry.duration_ms
  if (row === undefined || entry.triggered || entry.resent || entry.duplicate) {
    return push(builder, entry, rowContent(entry), sentMs)
  }
  builder.unanswered.delete(entry.delivery_id)
  row.answer = answerOf(entry, sentMs - (builder.startMs ?? 0) - row.atMs)
  row.ok = entry.outcome === 'delivered'
  row.entrySeqs.push(entry.seq)
  return row
}

/** Adds a row only when the content of the inbox has changed since the previous read. */
function addInbox(builder: Builder, entry: DriverCallEntry): Draft | null {
  const { chat_id: key = '', outcome, failure, items = [] } = entry
  const before = builder.inboxes.get(key)
  const content = JSON.stringify([outcome, failure, items])
  if (before?.content === content) {
    before.row.entrySeqs.push(entry.seq)
    return before.row
  }
  const row = push(builder, entry, inboxRow(entry, before?.items ?? []))
  if (row !== null) builder.inboxes.set(key, { row, content, items: outcome === 'ok' ? items : (before?.items ?? []) })
  return row
}

function addStep(builder: Builder, entry: EntryOf<'note'>): Draft | null {
  const number = Number(entry.step)
  if (entry.note === 'step_started') {
    builder.underWay.add(number)
    return push(builder, entry, stepStartedRow(entry))
  }
  const failed = builder.failedSteps.has(number)
  const row = push(builder, entry, stepEndedRow(entry, failed))
  if (row !== null) row.failed = failed
  builder.underWay.delete(number)
  return row
}

function push(builder: Builder, entry: Entry, what: RowContent | null, atMs = entry.at_ms): Draft | null {
  if (what === null) return null
  const { nameOf, conversationOfStep } = builder
  const ofStep = entry.kind === 'note' ? conversationOfStep.get(Number(entry.step)) : undefined
  const conversation: string | null = (entry.chat_id === undefined ? null : nameOf(entry.chat_id)) ?? ofStep ?? null

  const row: Draft = {
    seq: entry.seq,
    atMs: Math.max(0, atMs - (builder.startMs ?? 0)),
    conversation,
    ...what,
    failed: false,
    step: stepOf(builder, entry, conversation),
    entrySeqs: [entry.seq],
  }
  builder.rows.push(row)
  return row
}

/** The step that claimed a call; for other entries the step that its chat is at. */
function stepOf(builder: Builder, entry: Entry, conversation: string | null): number | null {
  const claimed = builder.claimedBy.get(entry.seq)
  if (claimed !== undefined) return claimed
  if (entry.kind === 'note' && typeof entry.step === 'number') return entry.step
  if (entry.kind === 'api') return null
  const numbers = [...builder.underWay]
  if (conversation === null) return (numbers.length === 1 && numbers[0]) || null
  return numbers.findLast(number => builder.conversationOfStep.get(number) === conversation) ?? null
}

/**
 * Turns the journal of a scenario into rows for a diagram: an event or a call with its answer, an action of user or agent,
 * a fault, a step. Every text in a row is one safe line.
 */

import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { ScenarioResult } from '../evaluator/verdict.ts'
import type { Failure } from '../finding.ts'
import type { DriverCallEntry, InboxItem } from '../scenario/run-events.ts'
import { isDriverCall } from '../scenario/run-events.ts'
import { deliveryAnswer, type EntryLine, inboxLine, isRepeated, labelOf, lineOf, stepEndLine } from './entry-line.ts'

/** `from`, `to`, `kind`, `ok` and `isTrial` are those of its first entry, until a later entry answers it. */
export interface TimelineRow extends Pick<EntryLine, 'from' | 'to' | 'kind' | 'ok' | 'isTrial'> {
  /** Of its first entry. */
  readonly seq: number
  /** Wall time in ms since the first entry of the scenario. */
  readonly atMs: number
  /** Null for what belongs to no chat of the scenario. */
  readonly conversation: string | null
  readonly label: string
  /** `200 in 31 ms`, `200 MESSAGE SENT TO USER`. */
  readonly answer?: string
  /** Whether a failure refers to it. */
  readonly failed: boolean
  /** The step that claimed it or was under way; null when there is none. */
  readonly step: number | null
  /** All entries that it shows. */
  readonly entrySeqs: readonly number[]
}

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
  /** The rows of events by delivery id, each with the answers of its attempts so far: `503`, `no answer`. */
  readonly events: Map<string, { readonly row: Draft; readonly answers: string[] }>
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
  for (const { row } of builder.events.values()) row.answer ??= 'no answer'
  const marked = new Set(source.failures.flatMap(({ entrySeqs }) => entrySeqs))
  // A trial that was accepted shows why something else failed.
  const rows = builder.rows.map(row => ({
    ...row,
    failed: row.failed || (!row.isTrial && row.entrySeqs.some(seq => marked.has(seq))),
  }))
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
  const { rows, events } = builder
  return {
    rows,
    add: entry => add(builder, entry),
    dropUntil(seq) {
      const first = rows.findIndex(row => row.seq > seq)
      rows.splice(0, first === -1 ? rows.length : first)
      for (const [id, { row }] of events) if (row.seq <= seq) events.delete(id)
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
  events: new Map(),
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
  if (isDriverCall(entry) && entry.verb === 'inbox') return addInbox(builder, entry)
  if (entry.kind === 'note' && /^step_(started|ended)$/.test(entry.note)) return addStep(builder, entry)
  if (isRepeated(entry) || isOfRun(entry)) return null
  const row = push(builder, entry, lineOf(entry))
  if (entry.kind === 'event') builder.events.set(entry.delivery_id, { row, answers: [] })
  return row
}

/** Notes without a row: the steps and the events of a run show the same. */
const isOfRun = (entry: Entry): boolean =>
  entry.kind === 'note' &&
  (/^(chat_created|conversation|scenario_started|steps_done)$/.test(entry.note) ||
    (entry.note === 'scenario_ended' && entry.stopped === undefined) ||
    (entry.note === 'target_output' && entry.ended === null))

/** All attempts belong to the event's own row; copies and manual events have their own. */
function addDelivery(builder: Builder, entry: EntryOf<'delivery'>): Draft {
  const { delivery_id, at_ms, duration_ms, triggered, resent, duplicate, status, outcome } = entry
  const sentMs = at_ms - duration_ms
  const event = builder.events.get(delivery_id)
  if (event === undefined || triggered || resent || duplicate) return push(builder, entry, lineOf(entry), sentMs)
  const { row, answers } = event
  const { short } = deliveryAnswer(entry, sentMs - (builder.startMs ?? 0) - row.atMs)
  row.answer = answers.length === 0 ? short : `${runsOf(answers)}, then ${short}`
  row.ok = outcome === 'delivered'
  row.entrySeqs.push(entry.seq)
  answers.push(status === null ? 'no answer' : String(status))
  return row
}

/** `503`, `3 × 503, no answer`: equal answers in a row are counted. */
function runsOf(answers: readonly string[]): string {
  const runs: { readonly answer: string; count: number }[] = []
  for (const answer of answers) {
    const last = runs.at(-1)
    if (last?.answer === answer) last.count++
    else runs.push({ answer, count: 1 })
  }
  return runs.map(({ answer, count }) => (count === 1 ? answer : `${count} × ${answer}`)).join(', ')
}

/** Adds a row only when the content of the inbox has changed since the previous read. Before the first step, the desk does not have the chat yet. */
function addInbox(builder: Builder, entry: DriverCallEntry): Draft | null {
  const { chat_id: key = '', outcome, failure, status, items = [] } = entry
  const before = builder.inboxes.get(key)
  if (before === undefined && status === 404 && builder.underWay.size === 0) return null
  const content = JSON.stringify([outcome, failure, items])
  if (before?.content === content) {
    before.row.entrySeqs.push(entry.seq)
    return before.row
  }
  const row = push(builder, entry, inboxLine(entry, before?.items))
  builder.inboxes.set(key, { row, content, items: outcome === 'ok' ? items : (before?.items ?? []) })
  return row
}

function addStep(builder: Builder, entry: EntryOf<'note'>): Draft | null {
  const number = Number(entry.step)
  if (entry.note === 'step_started') {
    builder.underWay.add(number)
    return push(builder, entry, lineOf(entry))
  }
  const failed = builder.failedSteps.has(number)
  const line = stepEndLine(entry, failed)
  // The row of its start shows a step that passed.
  const row = line.ok ? null : push(builder, entry, line)
  if (row !== null) row.failed = failed
  builder.underWay.delete(number)
  return row
}

function push(builder: Builder, entry: Entry, line: EntryLine, atMs = entry.at_ms): Draft {
  const { nameOf, conversationOfStep } = builder
  const ofStep = entry.kind === 'note' ? conversationOfStep.get(Number(entry.step)) : undefined
  const conversation = (entry.chat_id === undefined ? null : nameOf(entry.chat_id)) ?? ofStep ?? null
  const { from, to, kind, ok, isTrial, answer } = line
  const row: Draft = {
    seq: entry.seq,
    atMs: Math.max(0, atMs - (builder.startMs ?? 0)),
    conversation,
    from,
    to,
    kind,
    label: labelOf(line),
    ok,
    ...(isTrial && { isTrial }),
    ...(answer && { answer: answer.short }),
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

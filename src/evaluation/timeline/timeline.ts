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
  readonly failures: readonly Pick<Failure, 'step' | 'entrySeqs'>[]
}

type Draft = { -readonly [Key in keyof TimelineRow]: TimelineRow[Key] } & { entrySeqs: number[] }

/** Oldest first. */
export function timelineOf(source: TimelineSource): TimelineRow[] {
  const names = new Map(Object.entries(source.conversations).map(([conversation, chat]) => [chat, conversation]))
  const timeline = new Timeline(chatId => names.get(chatId) ?? null, source)
  for (const entry of source.journal) timeline.add(entry)
  const marked = new Set(source.failures.flatMap(({ entrySeqs }) => entrySeqs))
  const rows = timeline.rows.map(row => ({
    ...row,
    ...(row.kind === 'event' && { answer: row.answer ?? 'no answer' }),
    // A trial that was accepted shows why something else failed.
    failed: row.failed || (!row.isTrial && row.entrySeqs.some(seq => marked.has(seq))),
  }))
  return rows.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
}

/** Rows that grow with a journal, in the order of their entries. */
export class Timeline {
  readonly #rows: Draft[] = []
  readonly #nameOf: (chatId: string) => string | null
  readonly #claimedBy: ReadonlyMap<number, number>
  readonly #conversationOfStep: ReadonlyMap<number, string>
  readonly #failedSteps: ReadonlySet<number | undefined>
  /** `at_ms` of the first entry; null before it. */
  #startMs: number | null = null
  /** The rows of events by delivery id, each with the answers of its attempts so far: `503`, `no answer`. */
  readonly #events = new Map<string, { readonly row: Draft; readonly answers: string[] }>()
  /** The last row of each inbox, and what was in it. */
  readonly #inboxes = new Map<string, { readonly row: Draft; readonly content: string; readonly items: InboxItems }>()
  /** Numbers of the steps under way. */
  readonly #underWay = new Set<number>()

  /** `nameOf` gives the name of a chat; null when it is not one of the scenario. A journal that grows has no source yet. */
  constructor(nameOf: (chatId: string) => string | null, source?: Pick<TimelineSource, 'steps' | 'failures'>) {
    const { steps, failures } = source ?? { steps: [], failures: [] }
    this.#nameOf = nameOf
    this.#claimedBy = new Map(steps.flatMap(({ number, claimed }) => claimed.map(seq => [seq, number] as const)))
    this.#conversationOfStep = new Map(steps.map(({ number, conversation }) => [number, conversation]))
    this.#failedSteps = new Set(failures.map(({ step }) => step?.number))
  }

  /** A row changes when a later entry answers it. */
  get rows(): readonly TimelineRow[] {
    return this.#rows
  }

  /** Returns the row that shows the entry; null when another entry repeats it. */
  add(entry: Entry): TimelineRow | null {
    this.#startMs ??= entry.at_ms
    if (entry.kind === 'delivery') return this.#addDelivery(entry)
    if (isDriverCall(entry) && entry.verb === 'inbox') return this.#addInbox(entry)
    if (entry.kind === 'note' && /^step_(started|ended)$/.test(entry.note)) return this.#addStep(entry)
    if (isRepeated(entry) || isOfRun(entry)) return null
    const row = this.#push(entry, lineOf(entry))
    if (entry.kind === 'event') this.#events.set(entry.delivery_id, { row, answers: [] })
    return row
  }

  /** Removes the oldest rows, those that began at or before `seq`. */
  dropUntil(seq: number): void {
    const first = this.#rows.findIndex(row => row.seq > seq)
    this.#rows.splice(0, first === -1 ? this.#rows.length : first)
    for (const [id, { row }] of this.#events) if (row.seq <= seq) this.#events.delete(id)
  }

  /** All attempts belong to the event's own row; copies and manual events have their own. */
  #addDelivery(entry: EntryOf<'delivery'>): Draft {
    const { delivery_id, at_ms, duration_ms, triggered, resent, duplicate, status, outcome } = entry
    const sentMs = at_ms - duration_ms
    const event = this.#events.get(delivery_id)
    if (event === undefined || triggered || resent || duplicate) return this.#push(entry, lineOf(entry), sentMs)
    const { row, answers } = event
    const { short } = deliveryAnswer(entry, sentMs - (this.#startMs ?? 0) - row.atMs)
    row.answer = answers.length === 0 ? short : `${runsOf(answers)}, then ${short}`
    row.ok = outcome === 'delivered'
    row.entrySeqs.push(entry.seq)
    answers.push(status === null ? 'no answer' : String(status))
    return row
  }

  /** Adds a row only when the content of the inbox has changed since the previous read. Before the first step, the desk does not have the chat yet. */
  #addInbox(entry: DriverCallEntry): Draft | null {
    const { chat_id: key = '', outcome, failure, status, items = [] } = entry
    const before = this.#inboxes.get(key)
    if (before === undefined && status === 404 && this.#underWay.size === 0) return null
    const content = JSON.stringify([outcome, failure, items])
    if (before?.content === content) {
      before.row.entrySeqs.push(entry.seq)
      return before.row
    }
    const row = this.#push(entry, inboxLine(entry, before?.items))
    this.#inboxes.set(key, { row, content, items: outcome === 'ok' ? items : (before?.items ?? []) })
    return row
  }

  #addStep(entry: EntryOf<'note'>): Draft | null {
    const number = Number(entry.step)
    if (entry.note === 'step_started') {
      this.#underWay.add(number)
      return this.#push(entry, lineOf(entry))
    }
    const failed = this.#failedSteps.has(number)
    const line = stepEndLine(entry, failed)
    // The row of its start shows a step that passed.
    const row = line.ok ? null : this.#push(entry, line)
    if (row !== null) row.failed = failed
    this.#underWay.delete(number)
    return row
  }

  #push(entry: Entry, line: EntryLine, atMs = entry.at_ms): Draft {
    const ofStep = entry.kind === 'note' ? this.#conversationOfStep.get(Number(entry.step)) : undefined
    const conversation = (entry.chat_id === undefined ? null : this.#nameOf(entry.chat_id)) ?? ofStep ?? null
    const { from, to, kind, ok, isTrial, answer } = line
    const row: Draft = {
      seq: entry.seq,
      atMs: Math.max(0, atMs - (this.#startMs ?? 0)),
      conversation,
      from,
      to,
      kind,
      label: labelOf(line),
      ok,
      ...(isTrial && { isTrial }),
      ...(answer && { answer: answer.short }),
      failed: false,
      step: this.#stepOf(entry, conversation),
      entrySeqs: [entry.seq],
    }
    this.#rows.push(row)
    return row
  }

  /** The step that claimed a call; for other entries the step that its chat is at. */
  #stepOf(entry: Entry, conversation: string | null): number | null {
    const claimed = this.#claimedBy.get(entry.seq)
    if (claimed !== undefined) return claimed
    if (entry.kind === 'note' && typeof entry.step === 'number') return entry.step
    if (entry.kind === 'api') return null
    const numbers = [...this.#underWay]
    if (conversation === null) return (numbers.length === 1 && numbers[0]) || null
    return numbers.findLast(number => this.#conversationOfStep.get(number) === conversation) ?? null
  }
}

type InboxItems = readonly InboxItem[]

/** Notes without a row: the steps and the events of a run show the same. */
const isOfRun = (entry: Entry): boolean =>
  entry.kind === 'note' &&
  (/^(chat_created|conversation|scenario_started|steps_done)$/.test(entry.note) ||
    (entry.note === 'scenario_ended' && entry.stopped === undefined) ||
    (entry.note === 'target_output' && entry.ended === null))

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

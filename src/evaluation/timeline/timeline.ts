/**
 * Turns the journal of a scenario into rows for a diagram: an event or a call with its answer, an action of user or agent,
 * a fault, a step. Every text in a row is one safe line.
 */

import { isMap, jsonOr } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, quote, shorten, visible } from '../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import {
  driverFailureText,
  earlyEndText,
  endedText,
  failureText,
  stepFailureText,
} from '../../platform/wording/failures.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { isAcceptedForgery, isRefusedForgery } from '../../platform/wording/hints.ts'
import type { ScenarioResult } from '../evaluator/verdict.ts'
import type { Failure } from '../finding.ts'
import type { DriverCallEntry, InboxItem } from '../scenario/run-events.ts'
import { isDriverCall, isRunEvent } from '../scenario/run-events.ts'

export type Actor = 'user' | 'agent' | 'platform' | 'intermediary' | 'runner'

export interface TimelineRow {
  /** Of its first entry. */
  readonly seq: number
  /** Wall time in ms since the first entry of the scenario. */
  readonly atMs: number
  readonly from: Actor
  /** Same as `from` when there is no receiver. */
  readonly to: Actor
  /** Null for what belongs to no chat of the scenario. */
  readonly conversation: string | null
  /**
   * action: user or agent did something. event: a webhook and its answer. call: of the intermediary. driver: an inbox
   * as it changed, or the target. fault: one hit. step: a step began, or failed. note: everything else.
   */
  readonly kind: 'action' | 'event' | 'call' | 'driver' | 'fault' | 'step' | 'note'
  readonly label: string
  /** `200 in 31 ms`, `200 MESSAGE SENT TO USER`. */
  readonly answer?: string
  readonly ok: boolean
  /** Of a diagnosis, which may be refused. */
  readonly isTrial?: boolean
  /** Whether a failure refers to it. */
  readonly failed: boolean
  /** The step that claimed it or was under way; null when there is none. */
  readonly step: number | null
  /** All entries that it shows. */
  readonly entrySeqs: readonly number[]
}

/** The part of a row that one entry decides. */
export type RowContent = Pick<TimelineRow, 'from' | 'to' | 'kind' | 'label' | 'ok' | 'isTrial'> & { answer?: string }

const MAX_CHARS = 120

/** One line, without control characters, shortened. */
const oneLine = (text: unknown, columns = MAX_CHARS): string => shorten(visible(String(text ?? '')), columns)
const quoted = (text: unknown): string => quote(String(text ?? ''), MAX_CHARS)

/** Null for an entry that another entry repeats. */
export function rowContent(entry: Entry): RowContent | null {
  switch (entry.kind) {
    case 'user':
      return { from: 'user', to: 'platform', kind: 'action', label: userLabel(entry), ok: true }
    case 'event': {
      const label = oneLine(entry.event, 60) + wordsOf(entry.payload)
      return { from: 'platform', to: 'intermediary', kind: 'event', label, ok: true }
    }
    case 'delivery':
      return deliveryRow(entry)
    case 'api':
      return callRow(entry)
    case 'driver':
      return isDriverCall(entry) ? driverRow(entry) : null
    case 'fault':
      return { from: 'runner', to: 'platform', kind: 'fault', label: `fault ${oneLine(faultHitText(entry))}`, ok: true }
    case 'note':
      return noteRow(entry)
  }
}

function userLabel({ action, button, text = '', attachments = [] }: EntryOf<'user'>): string {
  if (action === 'press') return `presses ${quoted(button)}`
  const files = attachments.length === 0 ? '' : counted(attachments.length, 'file')
  if (text === '') return `sends ${files || 'nothing'}`
  return files === '' ? quoted(text) : `${quoted(text)} with ${files}`
}

/** The text of a message event. */
const wordsOf = (payload: unknown): string =>
  isMap(payload) && 'message' in payload ? ` ${quoted(payload.message)}` : ''

/** A retry, a copy, or a manual event. */
function deliveryRow(entry: EntryOf<'delivery'>): RowContent {
  const { event, attempt, duplicate, triggered, resent, probe, sign = 'valid', outcome, request } = entry
  const parts = [oneLine(event, 40) + wordsOf(jsonOr(request.body, null))]
  if (probe !== undefined) parts.push(`trial of ${probe.code}`)
  else if (duplicate) parts.push('a copy')
  else if (attempt > 1 && !resent) parts.push(`attempt ${attempt}`)
  if (probe === undefined) {
    if (resent) parts.push('sent again')
    else if (triggered) parts.push('sent manually')
    if (sign !== 'valid') parts.push(`signature: ${sign}`)
  }
  // Of an event that is wrong on purpose, the refusal is right.
  const ok = probe !== undefined || isRefusedForgery(entry) || (outcome === 'delivered' && !isAcceptedForgery(entry))
  return {
    from: 'platform',
    to: 'intermediary',
    kind: 'event',
    label: parts.join(', '),
    answer: answerOf(entry, 0),
    ok,
    ...(probe !== undefined && { isTrial: true }),
  }
}

const SHOWN_DELAY_MS = 100

/** `200 in 31 ms`, `no answer: nothing listens at …`; with the delay before it was sent. */
function answerOf({ status, duration_ms, failure, outcome }: EntryOf<'delivery'>, delayMs: number): string {
  const delay = delayMs >= SHOWN_DELAY_MS ? `, sent ${formatMs(delayMs)} later` : ''
  if (outcome === 'skipped') return `not sent: ${oneLine(failureText(failure), 80)}`
  if (status === null) return `no answer: ${oneLine(failureText(failure), 80)}${delay}`
  return `${status} in ${formatMs(duration_ms)}${delay}`
}

function callRow({ endpoint, method, path, request, response, status, answer_lost }: EntryOf<'api'>): RowContent {
  const message = endpoint === 'message' && isMap(request.body) ? request.body.message : undefined
  const words = typeof message === 'string' ? ` ${quoted(message)}` : ''
  const label = `${oneLine(method, 10)} ${endpoint ?? oneLine(path, 60)}${words}`
  const { event, error }: Readonly<Record<string, unknown>> = isMap(response) ? response : {}
  const word = [event, isMap(error) ? error.code : ''].find(one => typeof one === 'string') ?? ''
  let answer = `${status} ${oneLine(word, 80)}`.trimEnd()
  const isUnanswered = status === 0 && answer_lost === undefined
  if (isUnanswered) answer = 'no answer'
  if (answer_lost === 'before') answer = 'lost before it was processed'
  if (answer_lost === 'after') answer = 'processed, its answer lost'
  return { from: 'intermediary', to: 'platform', kind: 'call', label, answer, ok: status < 400 && !isUnanswered }
}

const VERB_TEXTS: Readonly<Record<string, string>> = {
  accept: 'accepts',
  says: 'says',
  type: 'types',
  stop: 'stops typing',
  leave: 'leaves',
  away: 'goes away',
  back: 'comes back',
}

function driverRow({ verb, outcome, status, duration_ms, failure, text }: DriverCallEntry): RowContent {
  const name = String(verb)
  const ok = outcome === 'ok'
  let answer: string = status === undefined ? outcome : `${status} in ${formatMs(duration_ms)}`
  if (!ok && failure !== undefined) answer = oneLine(driverFailureText(failure), 80)
  const words = text === undefined ? '' : ` ${quoted(text)}`
  const label = `${VERB_TEXTS[name] ?? oneLine(name.replace(/^does\./, 'does '), 40)}${words}`
  const from = name.startsWith('target.') ? 'runner' : 'agent'
  return { from, to: 'intermediary', kind: 'driver', label, answer, ok }
}

const isInboxRead = (entry: Entry): entry is DriverCallEntry => isDriverCall(entry) && entry.verb === 'inbox'

/** Shows the items after those of the previous read. */
function inboxRow(entry: DriverCallEntry, previous: readonly InboxItem[]): RowContent {
  const { items = [], outcome, failure, status } = entry
  const base = { from: 'intermediary', to: 'agent', kind: 'driver' } as const
  if (outcome !== 'ok') {
    const why = failure === undefined ? (status ?? 'no answer') : driverFailureText(failure)
    return { ...base, label: `inbox: ${oneLine(why, 80)}`, ok: status === 404 }
  }
  const added = items.slice(previous.length).map(itemWords)
  const label = added.length > 0 ? added.slice(0, 3).join(', ') : counted(items.length, 'item')
  return { ...base, label: `inbox: ${label}${added.length > 3 ? `, ${added.length - 3} more` : ''}`, ok: true }
}

/** `"Hello" with 2 files`, `a request`. */
function itemWords({ request, text, attachments = [] }: InboxItem): string {
  const words: string[] = []
  if (request) words.push('a request')
  if (typeof text === 'string' && text !== '') words.push(quote(text, 60))
  if (attachments.length > 0) words.push(counted(attachments.length, 'file'))
  return words.join(' with ') || 'an empty item'
}

/** Notes without a row: the call or the step that caused them has one. */
const REPEATED = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
  'chat_created',
  'conversation',
  'scenario_started',
  'steps_done',
])

const noteTo = (to: Actor, label: string): RowContent => ({
  from: to === 'user' ? 'platform' : 'runner',
  to,
  kind: 'note',
  label,
  ok: true,
})

function noteRow(entry: EntryOf<'note'>): RowContent | null {
  const text = (name: string, columns = MAX_CHARS) => oneLine(entry[name], columns)
  switch (entry.note) {
    case 'bot_message':
      return noteTo('user', `the bot says ${quoted(entry.text)}`)
    case 'typing_hidden':
      return noteTo('user', `typing indicator hidden (${text('why', 40)})`)
    case 'chat_ended':
      return noteTo('user', `the chat ends (${text('why', 40)})`)
    case 'availability':
      return entry.by === 'api' ? null : noteTo('platform', `availability ${text('availability', 20)}`)
    case 'observed': {
      const typing = entry.typing ? 'typing' : 'not typing'
      return noteTo('runner', `the chat: ${text('status', 20)}, ${typing}, ${text('availability', 20)}`)
    }
    case 'config':
      return noteTo('platform', `settings ${oneLine(JSON.stringify(entry.changed ?? {}))}`)
    case 'clock_advanced':
      return noteTo('platform', `the clock advances by ${text('by', 20)}`)
    case 'clock_paused':
      return noteTo('platform', 'the clock is paused')
    case 'clock_resumed':
      return noteTo('platform', 'the clock goes on')
    case 'fault_set':
      return noteTo('platform', `fault ${text('fault', 40)} set: ${oneLine(effectText(entry.effect))}`)
    case 'fault_cleared':
      return noteTo('platform', `fault ${text('fault', 40)} cleared`)
    case 'scenario_ended':
      if (!isRunEvent(entry, 'scenario_ended') || entry.stopped === undefined) return null
      return { ...noteTo('runner', `stopped: ${oneLine(earlyEndText(entry.stopped))}`), ok: false }
    case 'target_unreachable':
      if (!isRunEvent(entry, 'target_unreachable')) return null
      return {
        ...noteTo('runner', `the intermediary is not reachable: ${oneLine(failureText(entry.failure))}`),
        ok: false,
      }
    case 'target_output':
      if (!isRunEvent(entry, 'target_output') || entry.ended === null) return null
      return { ...noteTo('intermediary', oneLine(endedText(entry.ended))), from: 'intermediary', ok: false }
    case 'evicted':
      return { ...noteTo('runner', text('message')), ok: false }
    default:
      return REPEATED.has(entry.note) ? null : noteTo('runner', oneLine(entry.note))
  }
}

const stepStartedRow = (entry: EntryOf<'note'>): RowContent => ({
  from: 'runner',
  to: 'runner',
  kind: 'step',
  label: `step ${String(entry.step)}: ${oneLine(entry.label)}`,
  ok: true,
})

/** The end of a step that failed; null when it passed. */
function stepEndedRow(entry: EntryOf<'note'>, failed: boolean): RowContent | null {
  const cause = isRunEvent(entry, 'step_ended') ? entry.failure : undefined
  const error = cause === undefined ? '' : `: ${oneLine(stepFailureText(cause))}`
  if (!failed && error === '') return null
  return { from: 'runner', to: 'runner', kind: 'step', label: `step ${String(entry.step)} failed${error}`, ok: false }
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
  if (isInboxRead(entry)) return addInbox(builder, entry)
  if (entry.kind === 'note' && /^step_(started|ended)$/.test(entry.note)) return addStep(builder, entry)
  const row = push(builder, entry, rowContent(entry))
  if (row !== null && entry.kind === 'event') builder.events.set(entry.delivery_id, { row, answers: [] })
  return row
}

/** All attempts belong to the event's own row; copies and manual events have their own. */
function addDelivery(builder: Builder, entry: EntryOf<'delivery'>): Draft | null {
  const { delivery_id, at_ms, duration_ms, triggered, resent, duplicate, status, outcome, retry_in_ms } = entry
  const sentMs = at_ms - duration_ms
  const event = builder.events.get(delivery_id)
  if (event === undefined || triggered || resent || duplicate) return push(builder, entry, rowContent(entry), sentMs)
  const { row, answers } = event
  const isFirst = answers.length === 0
  const answer = answerOf(entry, sentMs - (builder.startMs ?? 0) - row.atMs)
  row.answer = isFirst ? answer : `${runsOf(answers)}, then ${answer}`
  if (retry_in_ms !== undefined) row.answer += `, again after ${formatMs(retry_in_ms)}`
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

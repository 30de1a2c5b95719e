/**
 * A play as rows for a diagram, one thing that happened each: an event with its answer, a call with its answer, what
 * user and agent did, faults, steps. Every text in it is on one line and safe to show.
 */

import type { Failure, ScenarioResult } from '../evaluator/verdict.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { InboxItem } from '../scenario/run-events.ts'
import { asDriverEntry, inboxLabel, sawInbox } from './driver-rows.ts'
import { answerOf, seen } from './entry-rows.ts'
import { endedStep, startedStep } from './note-rows.ts'
import type { Seen, TimelineRow } from './row.ts'

/** What of a play a timeline is drawn from; orphans of a run have no lanes and no steps. */
export type Timed = Pick<ScenarioResult, 'journal' | 'conversations' | 'failures' | 'steps'>

type Draft = { -readonly [Key in keyof TimelineRow]: TimelineRow[Key] } & { entrySeqs: number[] }

interface Build {
  readonly startMs: number
  readonly conversationOf: ReadonlyMap<string, string>
  readonly claimedBy: ReadonlyMap<number, number>
  readonly conversationOfStep: ReadonlyMap<number, string>
  readonly rows: Draft[]
  /** Events by delivery id, until their first answer. */
  readonly unanswered: Map<string, Draft>
  /** The last row of each inbox, and what was in it. */
  readonly inboxes: Map<string, { readonly row: Draft; readonly content: string; readonly items: readonly InboxItem[] }>
  readonly failureOf: ReadonlyMap<number, Failure>
  /** Numbers of the steps under way. */
  readonly underWay: Set<number>
}

/** Oldest first. */
export function timelineOf(played: Timed): TimelineRow[] {
  const build = begin(played)
  for (const entry of played.journal) add(build, entry)
  for (const row of build.unanswered.values()) row.answer = 'no answer'
  const marked = new Set(played.failures.flatMap(({ marks }) => marks))
  const rows = build.rows.map(row => ({ ...row, failed: row.failed || row.entrySeqs.some(seq => marked.has(seq)) }))
  return rows.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
}

const begin = ({ journal, conversations, steps, failures }: Timed): Build => ({
  failureOf: new Map(
    failures.flatMap(failure => (failure.step === null ? [] : [[failure.step.number, failure] as const])),
  ),
  startMs: journal[0]?.at_ms ?? 0,
  conversationOf: new Map(Object.entries(conversations).map(([conversation, chat]) => [chat, conversation])),
  claimedBy: new Map(steps.flatMap(({ number, claimed }) => claimed.map(seq => [seq, number] as const))),
  conversationOfStep: new Map(steps.map(({ number, conversation }) => [number, conversation])),
  rows: [],
  unanswered: new Map(),
  inboxes: new Map(),
  underWay: new Set(),
})

function add(build: Build, entry: Entry): void {
  if (entry.kind === 'delivery') return addDelivery(build, entry)
  if (sawInbox(entry)) return addInbox(build, entry)
  if (entry.kind === 'note' && /^step_(started|ended)$/.test(entry.note)) return addStep(build, entry)
  const row = push(build, entry, seen(entry))
  if (row !== null && entry.kind === 'event') build.unanswered.set(entry.delivery_id, row)
}

/** The first answer belongs to the event's own row; retries, duplicates and what was sent by hand have their own. */
function addDelivery(build: Build, entry: EntryOf<'delivery'>): void {
  const row = build.unanswered.get(entry.delivery_id)
  const sentMs = entry.at_ms - entry.duration_ms
  if (row === undefined || entry.triggered || entry.resent || entry.duplicate) {
    push(build, entry, seen(entry), sentMs)
    return
  }
  build.unanswered.delete(entry.delivery_id)
  row.answer = answerOf(entry, sentMs - build.startMs - row.atMs)
  row.ok = entry.outcome === 'delivered'
  row.entrySeqs.push(entry.seq)
}

/** Inboxes are read again and again: only what changed is worth a row. */
function addInbox(build: Build, entry: Entry): void {
  const { chat_id: key = '', outcome, failure, items = [] } = asDriverEntry(entry)
  const before = build.inboxes.get(key)
  const content = JSON.stringify([outcome, failure, items])
  if (before?.content === content) {
    before.row.entrySeqs.push(entry.seq)
    return
  }
  const row = push(build, entry, inboxLabel(asDriverEntry(entry), before?.items ?? []))
  if (row !== null) build.inboxes.set(key, { row, content, items: outcome === 'ok' ? items : (before?.items ?? []) })
}

function addStep(build: Build, entry: EntryOf<'note'>): void {
  const number = Number(entry.step)
  if (entry.note === 'step_started') {
    build.underWay.add(number)
    push(build, entry, startedStep(entry))
    return
  }
  const failure = build.failureOf.get(number)
  const row = push(build, entry, endedStep(entry, failure))
  if (row !== null && failure !== undefined) row.failed = true
  build.underWay.delete(number)
}

function push(build: Build, entry: Entry, what: Seen | null, atMs = entry.at_ms): Draft | null {
  if (what === null) return null
  const conversation = conversationOf(build, entry)
  const row: Draft = {
    seq: entry.seq,
    atMs: Math.max(0, atMs - build.startMs),
    conversation,
    ...what,
    failed: false,
    step: stepOf(build, entry, conversation),
    entrySeqs: [entry.seq],
  }
  build.rows.push(row)
  return row
}

function conversationOf({ conversationOf: conversations, conversationOfStep }: Build, entry: Entry): string | null {
  const ofStep = entry.kind === 'note' ? conversationOfStep.get(Number(entry.step)) : undefined
  return conversations.get(entry.chat_id ?? '') ?? ofStep ?? null
}

/** A call belongs to the step that claimed it and to no other; the rest to what its lane is at. */
function stepOf(build: Build, entry: Entry, conversation: string | null): number | null {
  const claimed = build.claimedBy.get(entry.seq)
  if (claimed !== undefined) return claimed
  if (entry.kind === 'note' && typeof entry.step === 'number') return entry.step
  if (entry.kind === 'api') return null
  const numbers = [...build.underWay]
  if (conversation === null) return numbers.length === 1 ? numbers[0]! : null
  return numbers.findLast(number => build.conversationOfStep.get(number) === conversation) ?? null
}

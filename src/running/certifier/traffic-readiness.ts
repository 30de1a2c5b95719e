/** Collects what traffic and trials show about every check, so that a developer sees what is broken before a certification. */

import type { Finding } from '../../evaluation/finding.ts'
import { History, type InboxRead } from '../../evaluation/history.ts'
import { type Facts, isProof, judge, toFinding } from '../../evaluation/rules/rule.ts'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { isComparable } from '../../platform/webhooks/refusal-evidence.ts'
import type { ReadinessCheck, ReadinessReport } from '../../server/control/readiness.ts'
import type { CheckDefinition, CheckResult } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { checkFacts, createLimits } from './context.ts'
import { RULES_WITHOUT_CHAT, TRAFFIC_RULES } from './traffic.ts'

/** What a piece of traffic shows about a check. unclear: an earlier mistake is not shown any more. */
export interface Sighting {
  readonly check: string
  readonly state: 'right' | 'wrong' | 'unclear'
  /** Milliseconds, as `at_ms` of entries: the latest sighting of a check decides. */
  readonly atMs: number
  readonly seq: number
  readonly chatId: string | null
  /** Null unless it is wrong. */
  readonly finding: Finding | null
}

const LIMITS = createLimits()
/** The latest entries of a chat that are evaluated. */
const MAX_ENTRIES = 500

/** Chats that are evaluated anew at most, the newest. */
const MAX_CHATS = 200
/** Some evaluations need time to pass: chats with newer entries are evaluated again. */
const OPEN_MS = 35_000
/** The latest entries without a chat that are evaluated. */
const MAX_WITHOUT_CHAT = 500

/** What the traffic of one simulator shows: reads its journal when it is asked, and nothing in between. */
export class TrafficReadiness {
  readonly #sim: PlatformSimulator
  readonly #latest = new Map<string, Sighting>()
  /** Chats to evaluate, with the time of their last entry. */
  readonly #open = new Map<string, number>()
  /** What the agent saw last of these chats, beside what the journal has. */
  readonly #reads = new Map<string, InboxRead>()
  #withoutChat: Entry[] = []
  #lastSeq = 0
  #instance = ''

  constructor(sim: PlatformSimulator) {
    this.#sim = sim
  }

  /** The latest sighting of each check. */
  sightings(): ReadonlyMap<string, Sighting> {
    const { journal, platform, numbering } = coreOf(this.#sim)
    if (numbering.instance() !== this.#instance) {
      this.#instance = numbering.instance()
      this.#latest.clear()
      this.#open.clear()
      this.#reads.clear()
      this.#withoutChat = []
      this.#lastSeq = 0
    }
    const withoutChat: Entry[] = []
    for (const entry of journal.query({ after: this.#lastSeq })) {
      this.#lastSeq = entry.seq
      if (entry.chat_id === undefined) withoutChat.push(entry)
      else {
        this.#open.delete(entry.chat_id)
        this.#open.set(entry.chat_id, entry.at_ms)
      }
    }
    const facts = checkFacts(coreOf(this.#sim), LIMITS)
    if (withoutChat.length > 0) {
      this.#withoutChat = [...this.#withoutChat, ...withoutChat].slice(-MAX_WITHOUT_CHAT)
      this.#add(sightingsOf(RULES_WITHOUT_CHAT, this.#withoutChat, null, facts))
    }
    for (const [chatId, atMs] of [...this.#open].slice(-MAX_CHATS)) {
      const isThere = platform.state.chats.has(chatId)
      const entries = journal.query({ chatId }).slice(-MAX_ENTRIES)
      const inbox = this.#reads.get(chatId) ?? null
      if (isThere) this.#add(sightingsOf(TRAFFIC_RULES, entries, chatId, { ...facts, inbox }))
      if (isThere && journal.atMs - atMs <= OPEN_MS) continue
      this.#open.delete(chatId)
      this.#reads.delete(chatId)
    }
    return this.#latest
  }

  inboxRead(chatId: string, items: readonly InboxItem[]): void {
    const { journal } = coreOf(this.#sim)
    this.#reads.set(chatId, { seq: journal.nextSeq - 1, askedAt: journal.atMs, items, ids: [...items.keys()] })
    this.#open.set(chatId, journal.atMs)
  }

  #add(sightings: readonly Sighting[]): void {
    // At the same time, what is wrong decides.
    for (const sighting of sightings) {
      const latest = this.#latest.get(sighting.check)
      const isNewer = latest === undefined || sighting.atMs > latest.atMs
      if (isNewer || (sighting.atMs === latest.atMs && sighting.state === 'wrong'))
        this.#latest.set(sighting.check, sighting)
    }
  }
}

/** What these entries show about checks. */
function sightingsOf(
  rules: typeof TRAFFIC_RULES,
  entries: readonly Entry[],
  chatId: string | null,
  facts: Facts,
): Sighting[] {
  const history = new History(entries)
  const times = new Map(entries.map(({ seq, at_ms }) => [seq, at_ms]))
  const sightings: Sighting[] = []
  for (const [check, ofCheck] of Object.entries(rules))
    for (const { rule, observation } of judge(ofCheck, history, facts)) {
      const finding = isProof(observation) ? null : toFinding(rule, observation, null)
      if (finding?.level === 'INFO') continue
      const state = isProof(observation) ? observation.proof : 'wrong'
      const seq = isProof(observation) ? observation.entry.seq : Math.max(0, ...(finding?.entrySeqs ?? []))
      sightings.push({ check, state, seq, chatId, finding, atMs: times.get(seq) ?? 0 })
    }
  return sightings
}

export interface Trial {
  readonly result: CheckResult
  readonly atMs: number
}

/** The state of a check, from its latest sighting or its latest trial, whichever is newer. */
function stateOf(
  check: CheckDefinition,
  sighting: Sighting | undefined,
  trial: Trial | undefined,
): Pick<ReadinessCheck, 'state' | 'by' | 'seq' | 'chat_id' | 'finding' | 'note'> {
  const nothing = { state: 'not_seen', by: null, seq: null, chat_id: null, finding: null, note: null } as const
  if (trial !== undefined && (sighting === undefined || trial.atMs >= sighting.atMs)) {
    const { outcome, findings, reason } = trial.result
    const worst = findings.find(({ level }) => level === check.level) ?? findings[0]
    if (outcome === 'pass' || outcome === 'info') return { ...nothing, state: 'right', by: 'trial' }
    if ((outcome === 'fail' || outcome === 'warn') && worst !== undefined)
      return { ...nothing, state: 'wrong', by: 'trial', finding: wireFinding(worst) }
    return { ...nothing, note: reason?.text ?? null }
  }
  if (sighting === undefined || sighting.state === 'unclear') return nothing
  const { state, seq, chatId, finding } = sighting
  return { ...nothing, state, by: 'traffic', seq, chat_id: chatId, finding: finding && wireFinding(finding) }
}

export const wireFinding = ({ code, level, happened, hint = '', entrySeqs }: Finding) => ({
  ...{ code, level, happened, hint },
  entries: [...entrySeqs],
})

/** `cannotTry`: why a check cannot be tried; null when it can. */
export function reportOf(
  sim: PlatformSimulator,
  sightings: ReadonlyMap<string, Sighting>,
  trials: ReadonlyMap<string, Trial>,
  cannotTry: (check: CheckDefinition) => string | null,
): ReadinessReport {
  const { journal } = coreOf(sim)
  const isRefused = (entry: Entry) => entry.kind === 'delivery' && entry.outcome === 'failed' && isComparable(entry)
  const refused = journal.query({ kind: 'delivery' }).findLast(isRefused)
  const checks = CHECKS.map((check): ReadinessCheck => {
    const { id, title, level, profile } = check
    const state = stateOf(check, sightings.get(id), trials.get(id))
    const isSignature = state.state === 'wrong' && (id === 'SIG-01' || id === 'SIG-07')
    const delivery_id = isSignature ? (refused?.delivery_id ?? null) : null
    return { ...{ id, title, level, profile }, ...state, delivery_id, cannot_try: cannotTry(check) }
  })
  const counts = { right: 0, wrong: 0, not_seen: 0 }
  for (const { state } of checks) counts[state]++
  const wrong = checks.filter(({ state }) => state === 'wrong').map(({ id }) => id)
  const text = `${counts.right} of ${checks.length} seen right, ${wrong.length === 0 ? 'none wrong' : `${wrong.length} wrong: ${wrong.join(', ')}`}`
  return { text, ...counts, checks }
}

/** For a simulator without a server: its traffic, and no trials. */
export const readinessOfTraffic = (sim: PlatformSimulator, traffic: TrafficReadiness): ReadinessReport =>
  reportOf(sim, traffic.sightings(), new Map(), () => 'Checks are tried with certify of handover-sim/certify.')

/** Reads a journal for calls that work and are likely to cause trouble. Each rule is a heading of docs/lint.md. */
import { ALIASES } from '../../platform/contract/endpoint-routes.ts'
import { defaultKnobs } from '../../platform/contract/knobs.ts'
import type { Entry, EntryOf, FaultEffect, Finding } from '../../platform/journal/entry.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import { stepsOf } from '../scenario/plan.ts'
import { isRunEvent } from '../scenario/run-events.ts'
import {
  ackSlowerThanRetry,
  callBeforeAck,
  chatNeverEnded,
  messageAfterEnd,
  startTwice,
  transcriptPolling,
  typingNeverStopped,
} from './chat-rules.ts'
import {
  type History,
  historyOf,
  isFaulty,
  type LintedPlan,
  type LinterRule,
  type LintFinding,
  perRun,
  type Secret,
  type SecretPlace,
} from './rule.ts'

/** Reports once that a run uses both names of the API. */
const aliasMixed = perRun('alias-mixed', ({ calls }) => {
  const [handoverSeqs = [], takeoverSeqs = []] = ALIASES.map(alias =>
    calls.filter(call => call.alias === alias).map(({ seq }) => seq),
  )
  const [[first], [other]] = [handoverSeqs, takeoverSeqs]
  if (first === undefined || other === undefined) return []
  return [{ details: { handoverSeqs, takeoverSeqs }, entrySeqs: [first, other] }]
})

/** Reports faults that nothing was applied to; only when every step ended, because later calls may use a fault. */
const faultUnused = perRun('fault-unused', history => {
  const faults = history.entries.filter(isFaultSet)
  if (faults.length === 0 || !isComplete(history)) return []
  return faults
    .filter(fault => !isUsed(history.entries, fault, faults))
    .map(({ fault, effect, seq, chat_id }) => ({ details: { fault, effect, seq }, chat_id, entrySeqs: [seq] }))
})

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

const isFaultSet = (entry: Entry): entry is FaultSet => entry.kind === 'note' && entry.note === 'fault_set'

function isComplete({ plan, entries }: History): boolean {
  const ended = new Set(entries.filter(entry => isRunEvent(entry, 'step_ended')).map(({ step }) => step))
  const steps = [...stepsOf([...plan.steps, ...plan.finally])]
  return steps.length > 0 && steps.every(({ number }) => ended.has(number))
}

/** Counts only until a fault of the same name is set, which is possible after the first is cleared. */
function isUsed(entries: readonly Entry[], { fault, seq }: FaultSet, faults: readonly FaultSet[]): boolean {
  const until = faults.find(other => other.fault === fault && other.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
  return entries.some(one => one.kind === 'fault' && one.fault === fault && one.seq > seq && one.seq < until)
}

/** Shorter values are words that may occur anywhere. */
const SHORTEST = 8

/** Reports API keys and signatures in texts, addresses and answers, where people and logs can read them. */
const secretExposed = perRun('secret-exposed', history => {
  const secrets = secretsOf(history)
  return history.entries.flatMap(entry =>
    textsOf(entry).flatMap(({ place, text }) => {
      const secret = parameterIn(place, text) ?? secrets.find(({ value }) => text.includes(value))?.kind
      if (secret === undefined) return []
      return [{ details: { seq: entry.seq, secret, place }, chat_id: entry.chat_id, entrySeqs: [entry.seq] }]
    }),
  )
})

const DEFAULT_KNOBS = defaultKnobs()

/** The keys of the scenario, and the keys and signatures in headers, which are masked in a saved journal. */
function secretsOf({ plan, calls, entries }: History): Secret[] {
  const apiKey = (value: unknown): Secret => ({ kind: 'api_key', value: String(value) })
  const configured = (['keys.handover', 'keys.bot'] as const).map(name =>
    apiKey(plan.config[name] ?? DEFAULT_KNOBS[name]),
  )
  const sent = calls.map(({ request }) =>
    apiKey(/^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''),
  )
  const signatures = entries.flatMap(signaturesOf).map((value): Secret => ({ kind: 'signature', value }))
  const byValue = new Map([...configured, ...sent, ...signatures].map(secret => [secret.value, secret]))
  return [...byValue.values()].filter(({ value }) => value.length >= SHORTEST && !value.includes('***'))
}

const signaturesOf = (entry: Entry): string[] =>
  entry.kind !== 'delivery' ? [] : Object.values(entry.request.headers).filter(value => /^[\w+/]{43}=$/.test(value))

function textsOf(entry: Entry): { place: SecretPlace; text: string }[] {
  if (entry.kind === 'delivery') return [{ place: 'webhook_answer', text: entry.response?.body ?? '' }]
  if (entry.kind !== 'api') return []
  const texts = stringsIn(entry.request.body).map(text => ({ place: 'text' as const, text }))
  return [{ place: 'address', text: decoded(entry.path) }, ...texts]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Names of parameters come before values, because values are masked in a saved journal. */
const parameterIn = (place: SecretPlace, text: string): 'parameter' | undefined =>
  place === 'address' && parameterNames(text).some(name => /key|token|secret|auth/i.test(name))
    ? 'parameter'
    : undefined

/** Splits in linear time: one expression for name and separators backtracks on a long address. */
const parameterNames = (address: string): string[] =>
  address
    .split(/[?&]/)
    .slice(1)
    .flatMap(part => /^[^=#]*(?==)/.exec(part)?.[0] ?? [])

/** Platform rule -> rule of the linter, for every finding that the API and the platform make. */
export const FINDINGS = {
  ER1: 'unknown-fields',
  'R-SENDER.4': 'sender-incomplete',
  'E0.2': 'content-type',
  E5: 'end-without-takeover',
} as const

/** Reports calls that the platform accepted with a finding, once for each kind of finding. */
const findingRules = Object.entries(FINDINGS).map(([platformRule, id]) =>
  perRun(id, history =>
    grouped(history, platformRule).map(([finding, calls]) => {
      const [{ endpoint, path, chat_id }] = calls
      const seqs = calls.map(({ seq }) => seq)
      return { details: { target: endpoint ?? path, finding, seqs }, chat_id, entrySeqs: seqs }
    }),
  ),
)

type Calls = [EntryOf<'api'>, ...EntryOf<'api'>[]]

function grouped({ calls, conversationOf }: History, platformRule: string): [finding: Finding, calls: Calls][] {
  const groups = new Map<string, [Finding, Calls]>()
  for (const call of calls) {
    if (call.endpoint === 'end' && isRepetition(calls, call)) continue
    for (const finding of call.findings.filter(({ rule }) => rule === platformRule)) {
      const key = `${conversationOf(call.chat_id)} ${call.endpoint} ${finding.message}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [finding, [call]])
      else group[1].push(call)
    }
  }
  return [...groups.values()]
}

/** A call of `end` whose first answer a fault lost or damaged. */
const isRepetition = (calls: readonly EntryOf<'api'>[], { seq, chat_id }: EntryOf<'api'>): boolean =>
  calls.some(one => one.seq < seq && one.chat_id === chat_id && one.endpoint === 'end' && isFaulty(one))

export const RULES: readonly LinterRule[] = [
  messageAfterEnd,
  startTwice,
  typingNeverStopped,
  chatNeverEnded,
  callBeforeAck,
  ackSlowerThanRetry,
  transcriptPolling,
  secretExposed,
  aliasMixed,
  faultUnused,
  ...findingRules,
]

/** All findings, ordered by the last entry that each is about. */
export function lint(plan: LintedPlan, entries: readonly Entry[]): LintFinding[] {
  const history = historyOf(plan, entries)
  const found = RULES.flatMap(rule => rule.find(history))
  return found.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}

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
  type Secret,
  type SecretPlace,
} from './rule.ts'

/** Reports once that a run uses both names of the API. */
const aliasMixed: LinterRule<'alias-mixed'> = {
  id: 'alias-mixed',
  *findInRun({ calls }) {
    const [handoverSeqs = [], takeoverSeqs = []] = ALIASES.map(alias =>
      calls.filter(call => call.alias === alias).map(({ seq }) => seq),
    )
    const [[first], [other]] = [handoverSeqs, takeoverSeqs]
    if (first !== undefined && other !== undefined)
      yield { details: { handoverSeqs, takeoverSeqs }, entrySeqs: [first, other] }
  },
}

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

/** Reports faults that nothing was applied to; only when every step ended, because later calls may use a fault. */
const faultUnused: LinterRule<'fault-unused'> = {
  id: 'fault-unused',
  *findInRun({ plan, entries }) {
    const faults = entries.filter((entry): entry is FaultSet => entry.kind === 'note' && entry.note === 'fault_set')
    const ended = new Set<unknown>()
    for (const entry of entries) if (isRunEvent(entry, 'step_ended')) ended.add(entry.step)
    const steps = [...stepsOf([...plan.steps, ...plan.finally])]
    if (steps.length === 0 || !steps.every(({ number }) => ended.has(number))) return
    for (const { fault, effect, seq, chat_id } of faults) {
      // A fault of the same name can be set after the first is cleared.
      const until = faults.find(other => other.fault === fault && other.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
      const isUsed = entries.some(
        one => one.kind === 'fault' && one.fault === fault && one.seq > seq && one.seq < until,
      )
      if (!isUsed) yield { details: { fault, effect, seq }, chat_id, entrySeqs: [seq] }
    }
  },
}

/** Reports API keys and signatures in texts, addresses and answers, where people and logs can read them. */
const secretExposed: LinterRule<'secret-exposed'> = {
  id: 'secret-exposed',
  *findInRun(history) {
    const secrets = secretsOf(history)
    for (const entry of history.entries)
      for (const { place, text } of textsOf(entry)) {
        const { seq, chat_id } = entry
        const secret = hasSecretParameter(place, text)
          ? 'parameter'
          : secrets.find(({ value }) => text.includes(value))?.kind
        if (secret !== undefined) yield { details: { seq, secret, place }, chat_id, entrySeqs: [seq] }
      }
  },
}

const DEFAULT_KNOBS = defaultKnobs()
/** Shorter values are words that may occur anywhere. */
const MIN_SECRET_CHARS = 8

/** The keys of the scenario, and the keys and signatures in headers, which are masked in a saved journal. */
function secretsOf({ plan, entries }: History): Secret[] {
  const found = new Map<string, Secret['kind']>()
  for (const name of ['keys.handover', 'keys.bot'] as const)
    found.set(String(plan.config[name] ?? DEFAULT_KNOBS[name]), 'api_key')
  for (const entry of entries) {
    if (entry.kind === 'api') {
      const [, key] = /^Bearer +(.+)$/i.exec(entry.request.headers.authorization ?? '') ?? []
      if (key !== undefined) found.set(key, 'api_key')
    }
    if (entry.kind === 'delivery')
      for (const value of Object.values(entry.request.headers))
        if (/^[\w+/]{43}=$/.test(value)) found.set(value, 'signature')
  }
  const secrets: Secret[] = []
  for (const [value, kind] of found)
    if (value.length >= MIN_SECRET_CHARS && !value.includes('***')) secrets.push({ kind, value })
  return secrets
}

function textsOf(entry: Entry): { place: SecretPlace; text: string }[] {
  if (entry.kind === 'delivery') return [{ place: 'webhook_answer', text: entry.response?.body ?? '' }]
  if (entry.kind !== 'api') return []
  let address = entry.path
  try {
    address = decodeURIComponent(address)
  } catch {
    // The path is no valid encoding: it is searched as it is.
  }
  return [
    { place: 'address', text: address },
    ...stringsIn(entry.request.body).map(text => ({ place: 'text', text }) as const),
  ]
}

/** Looks at the names of parameters, because values are masked in a saved journal. */
function hasSecretParameter(place: SecretPlace, address: string): boolean {
  if (place !== 'address') return false
  // Splits in linear time: one expression for name and separators backtracks on a long address.
  const parts = address.split(/[?&]/).slice(1)
  return parts.some(part => /key|token|secret|auth/i.test(/^[^=#]*(?==)/.exec(part)?.[0] ?? ''))
}

/** Platform rule -> rule of the linter, for every finding that the API and the platform make. */
export const FINDINGS = {
  ER1: 'unknown-fields',
  'R-SENDER.4': 'sender-incomplete',
  'E0.2': 'content-type',
  E5: 'end-without-takeover',
} as const

/** Reports calls that the platform accepted with a finding, once for each kind of finding. */
const findingRules = Object.entries(FINDINGS).map(
  ([platformRule, id]): LinterRule<typeof id> => ({
    id,
    *findInRun({ calls, conversationOf }) {
      const groups = new Map<string, { readonly finding: Finding; readonly calls: EntryOf<'api'>[] }>()
      /** Chats whose first answer of `end` a fault lost or damaged, so that a repetition is right. */
      const repeating = new Set<string | undefined>()
      for (const call of calls) {
        const isRepetition = call.endpoint === 'end' && repeating.has(call.chat_id)
        if (call.endpoint === 'end' && isFaulty(call)) repeating.add(call.chat_id)
        if (isRepetition) continue
        for (const finding of call.findings) {
          if (finding.rule !== platformRule) continue
          const key = `${conversationOf(call.chat_id)} ${call.endpoint} ${finding.message}`
          const group = groups.get(key) ?? { finding, calls: [] }
          group.calls.push(call)
          groups.set(key, group)
        }
      }
      for (const { finding, calls: found } of groups.values()) {
        const [first] = found
        const seqs = found.map(({ seq }) => seq)
        const target = first?.endpoint ?? first?.path ?? ''
        yield { details: { target, finding, seqs }, chat_id: first?.chat_id, entrySeqs: seqs }
      }
    },
  }),
)

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
  const findings: LintFinding[] = []
  for (const { id: rule, findInRun, findInChat } of RULES) {
    for (const { details, entrySeqs, chat_id } of findInRun?.(history) ?? [])
      findings.push({ rule, details, conversation: history.conversationOf(chat_id), entrySeqs })
    for (const [chat_id, chat] of history.chats)
      for (const { details, entrySeqs } of findInChat?.(chat, history) ?? [])
        findings.push({ rule, details, conversation: history.conversationOf(chat_id), entrySeqs })
  }
  return findings.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}

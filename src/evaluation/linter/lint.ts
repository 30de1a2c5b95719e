/** Reads a journal for calls that work and are likely to cause trouble. Each rule is a heading of docs/reference/lint.md. */

import { groupBy, isMap } from '../../base/objects.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { decoded } from '../../base/text/url-text.ts'
import { ALIASES } from '../../platform/contract/endpoint-routes.ts'
import { defaultKnobs } from '../../platform/contract/knobs.ts'
import type { Entry, EntryOf, FaultEffect, Finding as PlatformFinding } from '../../platform/journal/entry.ts'
import { effectText } from '../../platform/wording/faults.ts'
import type { Finding } from '../finding.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import type { Plan } from '../scenario/plan.ts'
import { stepsOf } from '../scenario/plan.ts'
import { type ConversationOf, conversationsIn, isRunEvent } from '../scenario/run-events.ts'

type Call = EntryOf<'api'>
/** A secret that journals must not show; `parameter` is recognized by its name. */
interface Secret {
  readonly kind: 'api_key' | 'signature' | 'parameter'
  readonly value: string
}
type SecretPlace = 'text' | 'address' | 'webhook_answer'

/** `details`: equal for the same mistake. */
type Found = Pick<Finding, 'happened' | 'entrySeqs'> & Partial<Pick<Finding, 'details'>>

/** A rule reads the entries of all chats, or one chat at a time. Its id is a heading of docs/reference/lint.md. */
export interface LinterRule {
  readonly id: string
  /** A finding with `chat_id` is about that chat. */
  findInRun?(history: History): Iterable<Found & { readonly chat_id?: string | undefined }>
  findInChat?(chat: readonly Entry[], history: History): Iterable<Found>
}

/** What the rules read of a plan. */
export type LintedPlan = Pick<Plan, 'config' | 'steps' | 'finally'>

export interface History {
  readonly plan: LintedPlan
  readonly entries: readonly Entry[]
  /** Entries by chat id; entries of no chat are left out. */
  readonly chats: ReadonlyMap<string, readonly Entry[]>
  readonly calls: readonly Call[]
  readonly conversationOf: ConversationOf
}

function historyOf(plan: LintedPlan, entries: readonly Entry[]): History {
  const chats = groupBy(
    entries.filter(({ chat_id }) => chat_id !== undefined),
    ({ chat_id }) => String(chat_id),
  )
  const calls = entries.filter(entry => entry.kind === 'api')
  return { plan, entries, chats, calls, conversationOf: conversationsIn(entries) }
}

const succeeded = ({ status }: Call): boolean => status >= 200 && status < 300

/** Whether a fault changed the call, so that a repetition of it is right. */
const isFaulty = ({ faults }: Call): boolean => faults !== undefined

/** `#12 POST /api/v2/handover/start`. */
const callText = ({ seq, method, path }: Call): string => `#${seq} ${method} ${path}`

function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, 5).map(seq => `#${seq}`)
  return seqs.length > 5 ? `${shown.join(', ')} and ${seqs.length - 5} more` : shown.join(', ')
}

/** Reports once that a run uses both names of the API. */
const aliasMixed: LinterRule = {
  id: 'alias-mixed',
  *findInRun({ calls }) {
    const [handoverSeqs = [], takeoverSeqs = []] = ALIASES.map(alias =>
      calls.filter(call => call.alias === alias).map(({ seq }) => seq),
    )
    const [[first], [other]] = [handoverSeqs, takeoverSeqs]
    if (first === undefined || other === undefined) return
    const happened = `${handoverSeqs.length} calls went to /api/v2/handover/ (${listed(handoverSeqs)}) and ${takeoverSeqs.length} to /api/v2/takeover/ (${listed(takeoverSeqs)}). Both work today (V2), but logs, limits and a later migration are easier with one. Build every path from one base.`
    yield { happened, entrySeqs: [first, other] }
  },
}

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

/** Reports faults that nothing was applied to; only when every step ended, because later calls may use a fault. */
const faultUnused: LinterRule = {
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
      if (isUsed) continue
      const happened = `The fault ${fault} (${effectText(effect)}), set with #${seq}, was not applied to any call or event, so the scenario does not test it. Set it before the call or event it is for, for the right chat, or remove it.`
      yield { happened, chat_id, entrySeqs: [seq] }
    }
  },
}

/** Reports API keys and signatures in texts, addresses and answers, where people and logs can read them. */
const secretExposed: LinterRule = {
  id: 'secret-exposed',
  *findInRun(history) {
    const secrets = secretsOf(history)
    for (const entry of history.entries)
      for (const { place, text } of textsOf(entry)) {
        const { seq, chat_id } = entry
        const secret = hasSecretParameter(place, text)
          ? 'parameter'
          : secrets.find(({ value }) => text.includes(value))?.kind
        if (secret === undefined) continue
        const happened = `#${seq} has ${SECRETS[secret]} in ${PLACES[place]}. ${READERS[place]} can use it to write to every chat of the bot, or to forge events. Send the key only in the Authorization header, and replace a key that was exposed.`
        yield { happened, chat_id, entrySeqs: [seq], details: { secret, place } }
      }
  },
}

const SECRETS: Readonly<Record<Secret['kind'], string>> = {
  api_key: 'an API key',
  signature: 'a webhook signature',
  parameter: 'a key or token',
}

const PLACES: Readonly<Record<SecretPlace, string>> = {
  text: 'a text',
  address: 'the address',
  webhook_answer: 'the answer to a webhook',
}

const READERS: Readonly<Record<SecretPlace, string>> = {
  text: 'Everyone who reads it, the user included,',
  address: 'Addresses are written to logs and proxies, and everyone who reads those',
  webhook_answer: 'Everyone who can call the webhook',
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
  return [
    { place: 'address', text: decoded(entry.path) },
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
  ER4: 'empty-fields',
  'R-SENDER.4': 'sender-incomplete',
  'E0.2': 'content-type',
  E5: 'end-without-takeover',
} as const

const ADVICE: Readonly<Record<(typeof FINDINGS)[keyof typeof FINDINGS], string>> = {
  'unknown-fields':
    'The platform may refuse it one day, and a misspelt field has no effect (assumption `api.unknownFields`). Compare its name with docs/reference/endpoints.md, or leave it out.',
  'empty-fields':
    'The platform describes the field as optional, and may refuse a null or an empty value (assumptions `api.nulls`, `api.emptyFields`). Leave the field out when it has no value.',
  'sender-incomplete':
    'Send `sender` with `name` and `avatar` with every message (R-SENDER.3), also with notices of the system.',
  'content-type':
    'The real platform may not read the body at all. Send `Content-Type: application/json` with every call.',
  'end-without-takeover':
    'What the platform does then is not stated (assumption `end.idle`), and it often means that `end` was sent twice or for the wrong chat. Call `end` once, for a chat that was started.',
}

/** Reports calls that the platform accepted with a finding, once for each kind of finding. */
const findingRules = Object.entries(FINDINGS).map(
  ([platformRule, id]): LinterRule => ({
    id,
    *findInRun({ calls, conversationOf }) {
      const groups = new Map<string, { readonly finding: PlatformFinding; readonly calls: EntryOf<'api'>[] }>()
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
        const happened = `${target} (${listed(seqs)}): ${finding.message} [${finding.rule}] ${ADVICE[id]}`
        yield { happened, chat_id: first?.chat_id, entrySeqs: seqs, details: { finding } }
      }
    },
  }),
)

/** A new handover request allows messages again, such as a notice that all agents are busy. */
const messageAfterEnd: LinterRule = {
  id: 'message-after-end',
  *findInChat(chat) {
    let endSeq: number | null = null
    for (const entry of chat) {
      if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') endSeq = null
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') endSeq = entry.seq
      if (entry.endpoint === 'start') endSeq = null
      if (endSeq === null || (entry.endpoint !== 'message' && entry.endpoint !== 'typing_start')) continue
      const happened = `${callText(entry)} came after the handover was ended with #${endSeq}. The bot answers the chat again, so the user gets answers from both. Send what is waiting before \`end\`, and drop later messages or show them to the agent.`
      yield { happened, entrySeqs: [endSeq, entry.seq] }
    }
  },
}

const startTwice: LinterRule = {
  id: 'start-twice',
  *findInChat(chat) {
    let first: Call | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      if (entry.endpoint === 'end') first = null
      if (entry.endpoint !== 'start') continue
      if (first !== null && !isFaulty(first)) {
        const happened = `${callText(entry)} was made although #${first.seq} had taken the chat over. The user reads the entering text twice, and what else the platform does is not stated (assumption \`start.again\`). Remember which chats are taken over, and for another agent send \`message\` with the new sender.`
        yield { happened, entrySeqs: [first.seq, entry.seq] }
      }
      first = entry
    }
  },
}

/** Only after the agent left, because a scenario may stop in the middle of a conversation. */
const chatNeverEnded: LinterRule = {
  id: 'chat-never-ended',
  *findInChat(chat) {
    let start: Call | null = null
    let leaveSeq: number | null = null
    let refusedSeqs: number[] = []
    for (const entry of chat) {
      if (entry.kind === 'driver' && entry.verb === 'leave' && entry.outcome === 'ok') {
        leaveSeq = entry.seq
        refusedSeqs = []
      }
      if (entry.kind !== 'api') continue
      if (entry.endpoint === 'end' && succeeded(entry)) start = null
      if (entry.endpoint === 'end' && !succeeded(entry)) refusedSeqs.push(entry.seq)
      if (entry.endpoint === 'start' && succeeded(entry)) {
        start = entry
        leaveSeq = null
      }
    }
    if (start === null || leaveSeq === null) return
    const ends =
      refusedSeqs.length === 0 ? '`end` was never called' : `no call of \`end\` succeeded (${refusedSeqs.length} tried)`
    const happened = `The agent left (#${leaveSeq}) and ${ends}. The chat stays taken over, so the bot does not answer and the user waits for an agent who left. Call \`end\` when the conversation is closed, and repeat it until it succeeds.`
    yield { happened, entrySeqs: [start.seq, leaveSeq, ...refusedSeqs] }
  },
}

/** A longer timeout does not help when the agent stops typing. */
const MAX_TIMEOUT_MS = 60_000

const typingNeverStopped: LinterRule = {
  id: 'typing-never-stopped',
  *findInChat(chat, { plan, entries }) {
    // The effective knob `typing.clearOn`, which the scenario or the run sets.
    const { config } = entries.find(entry => isRunEvent(entry, 'scenario_started')) ?? plan
    const clearOn = config['typing.clearOn']
    const clearing = Array.isArray(clearOn) ? clearOn : typeof clearOn === 'string' ? clearOn.split(',') : ['end']
    let shown: { readonly call: Call; readonly timeoutMs: number | null } | null = null
    for (const entry of chat) {
      if (entry.kind !== 'api' || !succeeded(entry)) continue
      const { endpoint, request } = entry
      if (endpoint === 'typing_stop' || clearing.includes(endpoint)) shown = null
      if (endpoint !== 'typing_start') continue
      const timeoutMs = isMap(request.body) && typeof request.body.timeout === 'number' ? request.body.timeout : null
      shown = timeoutMs === null || timeoutMs > MAX_TIMEOUT_MS ? { call: entry, timeoutMs } : null
    }
    if (shown === null) return
    const timeout = shown.timeoutMs === null ? 'no `timeout`' : `a \`timeout\` of ${shown.timeoutMs} ms`
    const happened = `${callText(shown.call)} had ${timeout}, and no \`typing_stop\` followed. The user still sees the typing indicator. Send a \`timeout\` of some seconds with \`typing_start\` and repeat the call while the agent types, or send \`typing_stop\`.`
    yield { happened, entrySeqs: [shown.call.seq] }
  },
}

/** The answer to a webhook and a call made right after it may be recorded in either order. */
const MARGIN_MS = 50

const callBeforeAck: LinterRule = {
  id: 'call-before-ack',
  *findInChat(chat) {
    const calls = chat.filter(entry => entry.kind === 'api')
    for (const delivery of chat) {
      if (delivery.kind !== 'delivery') continue
      const { event, seq: deliverySeq } = delivery
      // Manual events, resent events and events changed by a fault cause no calls.
      if (event !== 'REQUESTING TAKEOVER' && event !== 'MESSAGE FROM USER') continue
      if (delivery.triggered || delivery.resent || delivery.faults !== undefined) continue
      const call = calls.find(one => one.follows === delivery.cause && isAnsweredDuring(one, delivery))
      if (call === undefined) continue
      const earlyMs = Math.round(delivery.at_ms - call.at_ms)
      const happened = `${callText(call)} was made ${earlyMs} ms before the webhook answered ${event} (#${deliverySeq}). A platform that waits for the webhook before it serves the chat never answers that call, and a slow API makes the webhook time out. Store the event, answer 200, then call the API.`
      yield { happened, entrySeqs: [call.seq, deliverySeq] }
    }
  },
}

/** Whether the webhook answered after it had made this call and received the answer. `at_ms` of an entry is its end. */
export function isAnsweredDuring(call: Call, delivery: EntryOf<'delivery'>): boolean {
  const calledMs = call.at_ms - call.duration_ms
  const sentMs = delivery.at_ms - delivery.duration_ms
  return calledMs >= sentMs && calledMs + MARGIN_MS <= delivery.at_ms && call.at_ms <= delivery.at_ms
}

/** A webhook that times out has received the event, and may still be working on it when the event comes again. */
const ackSlowerThanRetry: LinterRule = {
  id: 'ack-slower-than-retry',
  *findInChat(chat) {
    const attempts: EntryOf<'delivery'>[] = []
    for (const entry of chat) if (entry.kind === 'delivery' && entry.duplicate !== true) attempts.push(entry)
    for (const { delivery_id: id, event, failure, retry_in_ms: retryMs, seq: deliverySeq } of attempts) {
      const repeatedSeq = attempts.find(one => one.delivery_id === id && one.seq > deliverySeq)?.seq
      if (failure?.code !== 'timeout' || retryMs === undefined || repeatedSeq === undefined) continue
      const happened = `The webhook did not answer ${event} (#${deliverySeq}) within ${formatDuration(failure.timeout_ms)}, so it was sent again ${formatDuration(retryMs)} later (#${repeatedSeq}). The intermediary received it twice, and may do the work twice: events have no id that shows a copy. Store the event, answer 200, then do the work.`
      yield { happened, entrySeqs: [deliverySeq, repeatedSeq] }
    }
  },
}

/** More reads than this within this time, with no event between them, are polling. */
const MAX_READS = 3
const POLLING_WINDOW_MS = 10_000

const transcriptPolling: LinterRule = {
  id: 'transcript-polling',
  *findInChat(chat: readonly Entry[]) {
    let longest: readonly Call[] = []
    let reads: Call[] = []
    for (const entry of chat) {
      const isRead = entry.kind === 'api' && (entry.endpoint === 'transcript' || entry.endpoint === 'chat')
      if (isRead) reads = [...reads, entry].filter(({ at_ms }) => entry.at_ms - at_ms <= POLLING_WINDOW_MS)
      else if (entry.kind === 'api' || entry.kind === 'event' || entry.kind === 'user') reads = []
      if (reads.length > longest.length) longest = reads
    }
    const [first] = longest
    const last = longest.at(-1)
    if (first === undefined || last === undefined || longest.length <= MAX_READS) return
    const within = ((last.at_ms - first.at_ms) / 1000).toFixed(1)
    const happened = `${callText(first)} and ${longest.length - 1} more reads of the same chat came within ${within} s, with no event between them. On the real platform this is needless load and may exceed a limit. The webhook receives what the user writes; read the transcript once, when a handover begins.`
    yield { happened, entrySeqs: longest.map(({ seq }) => seq) }
  },
}

/** The platform asks callers to give a reason if they can (E3.4). */
const reasonMissing: LinterRule = {
  id: 'reason-missing',
  *findInRun({ calls }) {
    const without = calls.filter(call => {
      const { body } = call.request
      return call.endpoint === 'availability' && succeeded(call) && !(isMap(body) && typeof body.reason === 'string')
    })
    const seqs = without.map(({ seq }) => seq)
    if (seqs.length === 0) return
    const happened = `availability (${listed(seqs)}) had no \`reason\`. The platform asks for one where it is known [E3.4]. Send AGENT_AVAILABILITY, BUSINESS_HOURS or OTHER.`
    yield { happened, entrySeqs: seqs }
  },
}

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
  reasonMissing,
  faultUnused,
  ...findingRules,
]

/** All findings, ordered by the last entry that each is about. */
export function lint(plan: LintedPlan, entries: readonly Entry[]): Finding[] {
  const history = historyOf(plan, entries)
  const findings: Finding[] = []
  const add = (code: string, chatId: string | undefined, { happened, entrySeqs, details = {} }: Found) =>
    findings.push({ code, level: 'SHOULD', happened, conversation: history.conversationOf(chatId), entrySeqs, details })
  for (const { id, findInRun, findInChat } of RULES) {
    for (const found of findInRun?.(history) ?? []) add(id, found.chat_id, found)
    for (const [chatId, chat] of history.chats)
      for (const found of findInChat?.(chat, history) ?? []) add(id, chatId, found)
  }
  return findings.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}

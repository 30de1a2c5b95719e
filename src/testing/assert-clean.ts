/** The end of a test: whatever the intermediary did that nobody asked for, or did wrong, fails it. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import type { CallId } from '../contract/wire.ts'
import type { Failure, Verdict, Warning } from '../evaluator/verdict.ts'
import { warningText } from '../evaluator/warning-text.ts'
import type { EntryOf } from '../journal/entry.ts'
import { FINDINGS } from '../linter/findings.ts'
import { settle } from '../runner/waiting.ts'
import { wallDelay } from '../runtime/clock.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { settled } from '../simulator/time.ts'
import { anything, list, validateOptions } from '../simulator/validate-options.ts'
import { failureText } from '../wording/delivery.ts'
import { expectationError } from './expectation-error.ts'
import { overtaken } from './expectations.ts'
import { durationMs, invalid } from './options.ts'
import { type Session, sessionOf } from './test-run.ts'

/** What the platform forgave: headings of docs/lint.md. */
export type FindingRule = 'unknown-fields' | 'sender-incomplete' | 'content-type' | 'end-without-takeover'

export interface CleanOptions {
  /** Calls that need no expectation, beside those that only read, and findings that may be there. */
  readonly allow?: readonly (CallId | FindingRule)[]
  /**
   * How long it has to be quiet first, on the wall. In this process nothing is waited for but what is under way; with
   * a server the default is 300ms.
   */
  readonly settle?: string
}

export async function assertClean(
  sim: PlatformSimulator,
  options: CleanOptions,
  asked: string,
  settleMs: number,
): Promise<void> {
  validateOptions('assertClean', options, { allow: list, settle: anything })
  const { allow = [], settle: written } = options
  checkAllowed(allow)
  const session = sessionOf(sim)
  const [label] = session.waiting.values()
  if (label !== undefined)
    throw invalid('assertClean', `An expectation still waits: ${label}. Await it before assertClean.`)
  await quiet(session, durationMs('settle', written) ?? settleMs)
  if (session.over.aborted) throw overtaken('assertClean', asked)
  const [first, ...more] = failuresOf(session, allow)
  if (first !== undefined) throw expectationError(session, [first, ...more], asked)
}

const RULES: readonly string[] = Object.values(FINDINGS)

function checkAllowed(allow: readonly string[]): void {
  const wrong = allow.find(one => !Object.hasOwn(ENDPOINTS, one) && !RULES.includes(one))
  if (wrong === undefined) return
  const known = [...Object.keys(ENDPOINTS), ...RULES].join(', ')
  throw invalid('allow', `allow holds calls and findings (${known}), got ${JSON.stringify(wrong)}.`)
}

/** Turns of the event loop in which continuations of the intermediary may still call. */
const MOST_TURNS = 50

async function quiet(session: Session, ms: number): Promise<void> {
  const { context, core, over } = session
  const { journal } = core
  let last = -1
  for (let turn = 0; turn < MOST_TURNS && last !== journal.nextSeq; turn++) {
    last = journal.nextSeq
    await settled(core)
    await wallDelay(0, over)
  }
  if (ms === 0) return
  const plan = { ...context.plan, timeouts: { ...context.plan.timeouts, settleMs: ms } }
  await settle({ ...context, plan }, { lingering: false, signal: over })
}

function failuresOf(session: Session, allow: readonly string[]): Failure[] {
  const { failures, warnings } = verdictOf(session, allow.filter(one => Object.hasOwn(ENDPOINTS, one)) as CallId[])
  const own = failures.filter(({ kind, step }) => !FOREIGN.includes(kind) && !session.told.has(step?.number ?? 0))
  const findings = warnings.filter(({ rule }) => RULES.includes(rule) && !allow.includes(rule))
  return [...own, ...failedDeliveries(session), ...findings.map(asFailure)]
}

/** No step of a plan has it. */
const MATCHERS = -1

/** What matchers have found is claimed while it is judged, and free for an expectation again afterwards. */
function verdictOf({ incremental, context, evaluation, accepted }: Session, allowed: readonly CallId[]): Verdict {
  const { index, claims } = evaluation
  incremental.allow(allowed)
  claims.assign(
    MATCHERS,
    index.calls.filter(call => accepted.has(call.seq) && claims.ownerOf(call) === null),
  )
  const verdict = context.evaluator.finish()
  claims.assign(MATCHERS, [])
  incremental.allow([])
  return verdict
}

/** They need to know what agents say, which only scenarios tell. */
const FOREIGN: readonly Failure['kind'][] = ['echo', 'leak']

const asFailure = (warning: Warning): Failure => ({
  ...NOTHING,
  kind: 'contract',
  conversation: warning.conversation,
  wanted: `no finding of the platform; allow: [${JSON.stringify(warning.rule)}] lets it pass`,
  happened: warningText(warning),
  marks: warning.marks,
})

const NOTHING = { step: null, conversation: null, rules: [], nearest: [], marks: [], soft: false } as const

/** Events that no step of the user caused, whose last try came to nothing. */
function failedDeliveries(session: Session): Failure[] {
  const { evaluation, tape } = session
  const ofSteps = new Set([...evaluation.index.steps.keys()].map(number => evaluation.index.endOf(number)?.delivery_id))
  const last = new Map<string, EntryOf<'delivery'>>()
  for (const entry of tape) if (entry.kind === 'delivery' && !entry.duplicate) last.set(entry.delivery_id, entry)
  const failed = [...last.values()].filter(entry => isFailed(entry) && !ofSteps.has(entry.delivery_id))
  return failed.map(entry => ({
    ...NOTHING,
    ...wordsFor(entry),
    conversation: session.conversationOf(entry.chat_id ?? null) || null,
  }))
}

const isFailed = ({ outcome, faults, sign, retry_in_ms }: EntryOf<'delivery'>): boolean =>
  outcome === 'failed' && faults === undefined && (sign ?? 'valid') === 'valid' && retry_in_ms === undefined

const wordsFor = ({ seq, event, status, failure }: EntryOf<'delivery'>) => ({
  kind: 'stimulus' as const,
  wanted: `${event} acknowledged by the webhook`,
  happened: `#${seq} ${event}: ${status === null ? failureText(failure) : `answered ${status}`}`,
  rules: ['WH1'],
  marks: [seq],
})

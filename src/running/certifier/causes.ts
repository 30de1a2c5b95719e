/** Finds the check that shows why others could not judge: one bug of an intermediary stops many checks. */

import { isMap } from '../../base/objects.ts'
import type { Finding } from '../../evaluation/finding.ts'
import { probeText } from '../../platform/webhooks/signature-probes.ts'
import { type CheckResult, outcomeOf } from './check.ts'
import type { AcceptedVariant } from './diagnosis.ts'
import type { Rotation } from './rotation.ts'

type Details = Finding['details']

/** Names a check whose subject is what other checks need, and what a failure of it causes in them. */
interface CauseRule {
  readonly check: string
  /** Codes of the findings by which it shows the cause. */
  readonly shows: readonly string[]
  /** Codes of the findings that the cause can have in other checks; null for any. */
  readonly explains: readonly string[] | null
  /** Whether what it shows causes the finding of another check. */
  isCause(shown: Details, found: Details, result: CheckResult, by: CheckResult): boolean
}

/** Findings that say that a valid event, which the check needs, was not accepted. */
const EVENT_OBSTACLES = ['control-refused', 'event-refused', 'no-answer']
/** Findings that say that any validly signed event was not accepted. */
const REFUSALS = [
  ...EVENT_OBSTACLES,
  'valid-signature-refused',
  'variant-refused',
  'variant-error',
  'variant-unanswered',
  'unknown-event-refused',
  'typing-event-refused',
  'unknown-chat-refused',
  'attachments-refused',
  'chat-kind-refused',
  'event-form-refused',
  'redelivery-refused',
  'events-refused-under-load',
  'answers-missing-at-once',
]
/** Findings that say that what the agent sees depends on which instance answers. */
const INBOX_OBSTACLES = ['inbox-alternates']
/** Findings that say that the agent acted, and no call followed. */
const CALL_OBSTACLES = ['driver-failed', 'call-missing', 'chat-kind-not-started']

/** Findings that say that the agent does not see a text of the user. */
const LOST_TEXTS = [
  'attachments-lose-text',
  'repeated-text-lost',
  'redelivered-text-lost',
  'overtaken-text-lost',
  'after-start-unseen',
  'files-missing',
]

const isDecidedBy = (name: string, { decisive }: CheckResult) => decisive.some(({ knob }) => knob === name)
const isSame = (name: string, shown: Details, found: Details) => (shown[name] ?? null) === (found[name] ?? null)
const formOf = ({ rotated, check }: CheckResult) =>
  rotated['webhook.json'] ?? check.knobs?.['webhook.json'] ?? 'compact'

function createCallRule(check: string, verb: string, endpoint: string): CauseRule {
  const isAbout = (details: Details) => details.verb === verb || details.endpoint === endpoint
  return {
    check,
    shows: CALL_OBSTACLES,
    explains: [...CALL_OBSTACLES, 'lost-under-load'],
    isCause: (shown, found) => isAbout(shown) && (isAbout(found) || endpointOf(found) === endpoint),
  }
}

/** A check that finds that no text arrives at all. */
function createTextRule(check: string, direction: string): CauseRule {
  const isMissing = ({ code, details }: Finding) => code === 'text-missing' && details.direction === direction
  return {
    check,
    shows: ['text-missing'],
    explains: ['text-missing', 'message-missing', 'lost-under-load', ...LOST_TEXTS],
    isCause(shown, found, _result, by) {
      // One of several texts is lost for another reason.
      if (shown.direction !== direction || by.findings.filter(isMissing).length < 3) return false
      if (found.part !== undefined) return endpointOf(found) === direction
      if (found.direction === undefined) return direction === 'to_agent' && (found.seen === 0 || found.arrived === 0)
      return found.direction === direction
    },
  }
}

/** An earlier one explains the findings of a later one. */
const RULES: readonly CauseRule[] = [
  {
    check: 'SIG-07',
    shows: ['serialisation-refused'],
    explains: REFUSALS,
    isCause: (shown, found, result) =>
      acceptedForm(shown) !== null && isIn(shown.refused, formOf(result)) && isSame('status', shown, found),
  },
  {
    check: 'SIG-01',
    shows: ['valid-signature-refused', 'event-refused', 'no-answer'],
    explains: [...REFUSALS, 'serialisation-refused'],
    isCause: (shown, found) => isSame('status', shown, found),
  },
  {
    check: 'EVT-05',
    shows: ['attachments-refused'],
    explains: null,
    isCause: (_shown, _found, result) => isDecidedBy('attachments.whenEmpty', result),
  },
  {
    check: 'ACK-01',
    shows: ['event-refused', 'no-answer'],
    explains: [...EVENT_OBSTACLES, 'unknown-chat-refused', 'attachments-refused', 'redelivery-refused'],
    isCause: (shown, found) => isSame('event', shown, found) && isSame('status', shown, found),
  },
  {
    check: 'FLW-05',
    shows: ['call-refused'],
    explains: ['call-refused', 'call-given-up', 'lost-under-load'],
    isCause: (shown, found) => isIn(shown.paths, found.path) || isPathOf(shown.paths, endpointOf(found)),
  },
  {
    check: 'FLW-05',
    shows: ['content-type'],
    explains: null,
    isCause: (_shown, _found, result) => isDecidedBy('api.contentType', result),
  },
  {
    check: 'FLW-02',
    shows: INBOX_OBSTACLES,
    explains: [...INBOX_OBSTACLES, ...CALL_OBSTACLES, 'text-missing', ...LOST_TEXTS],
    isCause: () => true,
  },
  createCallRule('FLW-01', 'accept', 'start'),
  createCallRule('FLW-03', 'says', 'message'),
  createCallRule('FLW-04', 'leave', 'end'),
  createTextRule('FLW-02', 'to_agent'),
  createTextRule('FLW-03', 'to_user'),
]

/** The endpoint whose call is missing or refused; null when it is missing in a part of the chats only. */
const endpointOf = ({ endpoint, part, isEvery }: Details) => endpoint ?? (isEvery === true ? part : null)

const isPathOf = (paths: unknown, endpoint: unknown): boolean =>
  Array.isArray(paths) && paths.some(path => String(path).split('/').includes(String(endpoint)))

const isIn = (list: unknown, value: unknown): boolean => Array.isArray(list) && list.includes(value)

/** A form of JSON that an intermediary accepts which refuses others; null for none. */
const acceptedForm = ({ accepted }: Details): unknown => (Array.isArray(accepted) ? (accepted[0] ?? null) : null)

/** Why a check could not rule. */
export interface Explanation {
  /** The check that shows the cause. */
  readonly by: CheckResult
  /** The findings of the stopped check that the cause explains; at least one. */
  readonly findings: readonly Finding[]
}

/** Whether the result may have a cause that another check shows. */
export const mayBeBlocked = ({ check, findings, decisive }: CheckResult): boolean =>
  decisive.length > 0 ||
  findings.some(
    ({ code }) => isObstacle(code) || RULES.some(rule => rule.check !== check.id && rule.explains?.includes(code)),
  )

const isObstacle = (code: string) =>
  [...EVENT_OBSTACLES, ...CALL_OBSTACLES, ...INBOX_OBSTACLES, 'call-refused'].includes(code)

/** Explains the checks that could not rule. The others are not in the map. `searched`: those whose decisive knobs are known. */
export function explainFindings(
  results: readonly CheckResult[],
  searched: ReadonlySet<CheckResult>,
): Map<CheckResult, Explanation> {
  const byId = new Map(results.map(result => [result.check.id, result]))
  // What the checks of the rules show, and no other check explains.
  const causes: { readonly rule: CauseRule; readonly by: CheckResult; readonly shown: Finding }[] = []
  const causeOf = (finding: Finding, result: CheckResult): CheckResult | null => {
    for (const { rule, by, shown } of causes)
      if (
        by !== result &&
        (rule.explains?.includes(finding.code) ?? true) &&
        (shown.level === 'MUST' || finding.level !== 'MUST') &&
        rule.isCause(shown.details, finding.details, result, by)
      )
        return by
    return null
  }
  for (const rule of RULES) {
    const by = byId.get(rule.check)
    for (const shown of by?.findings ?? [])
      if (by && rule.shows.includes(shown.code) && causeOf(shown, by) === null) causes.push({ rule, by, shown })
  }
  // What no check has as its subject: the clearest finding shows it.
  const common = new Map<string, { readonly result: CheckResult; readonly rank: number }>()
  const keyOf = (finding: Finding, result: CheckResult) => {
    const isSearched = searched.has(result) || result.decisive.length > 0
    return isSearched && causeOf(finding, result) === null ? commonKey(finding, result, byId) : null
  }
  for (const result of results)
    for (const finding of result.findings) {
      const key = keyOf(finding, result)
      const { level, code } = finding
      const rank = (level === 'MUST' ? 0 : 4) + (code === 'control-refused' ? 2 : 0) + (isObstacle(code) ? 0 : 1)
      if (key !== null && rank < (common.get(key)?.rank ?? Number.POSITIVE_INFINITY)) common.set(key, { result, rank })
    }
  const clearest = new Set([...common.values()].map(({ result }) => result))
  const explanations = new Map<CheckResult, Explanation>()
  for (const result of results)
    for (const finding of result.findings) {
      const key = clearest.has(result) ? null : keyOf(finding, result)
      const by = causeOf(finding, result) ?? (key === null ? null : common.get(key)?.result) ?? null
      if (by === null) continue
      const explanation = explanations.get(result)
      explanations.set(result, { by: explanation?.by ?? by, findings: [...(explanation?.findings ?? []), finding] })
    }
  return explanations
}

/** Equal for findings of several checks that have one cause, which no check shows; null for a finding of this check alone. */
function commonKey(
  { code, level, details }: Finding,
  { decisive }: CheckResult,
  byId: ReadonlyMap<string, CheckResult>,
): string | null {
  if (level === 'INFO') return null
  // What fails only with the same behaviour of the platform has one cause.
  if (decisive.length > 0) return JSON.stringify(decisive)
  if (!isObstacle(code)) return null
  const { event, status = null, verb, endpoint, method, path } = details
  // When the usual messages are accepted, this one was refused for what it contains.
  if (event === 'MESSAGE FROM USER' && byId.has('ACK-01')) return null
  const kind = EVENT_OBSTACLES.includes(code) ? 'refused' : code
  return JSON.stringify([kind, event, status, verb, endpoint, method, path])
}

/** Behaviours of the platform with which the cause does not stop the check; null when none are known. */
export function knobsWithout({ by }: Explanation, { check, avoided, decisive }: CheckResult): Rotation | null {
  const knobs: Record<string, unknown> = {}
  const shown = by.findings.find(({ code }) => code === 'serialisation-refused')
  const form = shown === undefined ? null : acceptedForm(shown.details)
  if (form !== null) knobs['webhook.json'] = form
  else for (const { knob, initial } of by.decisive.length > 0 ? by.decisive : decisive) knobs[knob] = initial
  const names = Object.keys(knobs)
  const isTried = names.every(name => name in (check.knobs ?? {}) || name in (avoided?.knobs ?? {}))
  return isTried ? null : { ...avoided?.knobs, ...knobs }
}

/** The result of a check that the cause stopped: what it judged nevertheless, or that it is blocked. */
export function withoutExplained(result: CheckResult, { by, findings }: Explanation): CheckResult {
  const left = result.findings.filter(finding => !findings.includes(finding))
  if (left.some(({ level }) => level !== 'INFO'))
    return { ...result, findings: left, outcome: outcomeOf(left, result.reason) }
  const { id } = by.check
  const text = `${id} shows the cause, which ended this check before it could judge: ${findings[0]?.happened ?? ''}`
  const reason = { code: 'blocked', text, by: id }
  return { ...result, findings: [], decisive: [], reason, outcome: outcomeOf([], reason) }
}

/** What the check shows, as a sentence about the intermediary. */
export function causeText({ findings, reason, decisive }: CheckResult): string {
  const [first] = findings
  const accepts = first?.details.accepts
  if (isMap(accepts)) return `The webhook ${probeText(accepts as unknown as AcceptedVariant)}.`
  const text = first?.happened ?? reason?.text ?? ''
  const knobs = decisive.map(({ knob, value }) => `${knob}=${String(value)}`)
  return knobs.length === 0 ? text : `${text} It does so only with ${knobs.join(', ')}.`
}

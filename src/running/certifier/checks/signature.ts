/** SIG: the signature of events. */

import { formatDuration } from '../../../base/text/quantities.ts'
import type { Level } from '../../../evaluation/finding.ts'
import type { CallEntry, DeliveryEntry } from '../../../evaluation/history.ts'
import { computeSignature, probeFix } from '../../../platform/webhooks/signature-probes.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { InterruptedError } from '../../runner/waiting.ts'
import { type CheckChat, expectAcknowledged, openChat, reportNoAnswer } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, CheckEvent, FoundMistake } from '../context.ts'
import { acceptedText, type Diagnosis, diagnoseBody, diagnoseEveryForm, LOG_BOTH } from '../diagnosis.ts'
import {
  controlEvent,
  EFFECT_TEXTS,
  effectWithin,
  type ObservedEffect,
  readInboxUntil,
  requestsIn,
} from '../observe.ts'
import { ROTATED } from '../rotation.ts'
import { algorithmHeaderOf, bodyOf, changeSignature, EVENT, type JsonForm, withHeader } from '../sent-bodies.ts'
import { suffix } from '../words.ts'
import { type AlteredEvent, expectCleanAnswers } from './wire.ts'

/** Of the checks that forge events. */
const REFUSED = {
  level: 'MUST',
  profile: 'webhook',
  rules: ['A4'],
  observes: 'The answer, calls about the chat, and what the agent sees.',
  passes: 'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
} as const

export const SIGNATURE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'SIG-01',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4', 'WH2'],
    title: 'A valid signature is accepted',
    sends: 'A validly signed REQUESTING TAKEOVER.',
    observes: 'The status of the answer.',
    passes: 'The status is 200.',
    run: expectValidAccepted,
  },
  {
    ...REFUSED,
    id: 'SIG-02',
    title: 'An event without a signature has no effect',
    sends: 'REQUESTING TAKEOVER without the signature headers, then a valid one in another chat.',
    run: check => expectRefused(check, ['none']),
  },
  {
    ...REFUSED,
    id: 'SIG-03',
    title: 'A signature made with another key has no effect',
    sends: 'REQUESTING TAKEOVER signed with another key, then a valid one in another chat.',
    run: check => expectRefused(check, ['wrong-key']),
  },
  {
    ...REFUSED,
    id: 'SIG-04',
    title: 'A body that was changed after signing has no effect',
    sends: 'REQUESTING TAKEOVER in which one byte of a value was changed after signing, then a valid one.',
    // In another order of fields, the changed byte would be in the name of the event.
    knobs: { 'webhook.json': 'compact' },
    run: check => expectRefused(check, ['tampered']),
  },
  {
    id: 'SIG-05',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    title: 'A signature that is only similar to the right one has no effect',
    sends:
      'REQUESTING TAKEOVER with a signature that is empty, cut, right only at its beginning, in other letter case, of another event, 10 KB long, hexadecimal, base64url, or written twice; each in a chat of its own. Then a valid one.',
    observes: 'The answers, calls about the chats, and what the agent sees.',
    passes:
      'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200. That the whole right signature in another writing (hexadecimal, base64url, twice) has no effect is a SHOULD.',
    run: check =>
      expectRefused(check, [
        'empty',
        'truncated',
        'other-end',
        'letter-case',
        'other-event',
        'long',
        'hex',
        'base64url',
        'doubled',
      ]),
  },
  {
    id: 'SIG-06',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['PUB'],
    title: 'Missing and repeated signature headers are answered',
    sends:
      'REQUESTING TAKEOVER without the header that names the algorithm, with another value of it, with it twice, and with two signature headers, equal and different. Then a valid one.',
    observes: 'The status and the time of each answer.',
    passes:
      'Each is accepted, or refused with 4xx, within the time of an acknowledgement; the valid event is answered with 200.',
    run: expectHeadersAnswered,
  },
  {
    id: 'SIG-07',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4', 'PUB'],
    title: 'The signature is verified over the raw body',
    sends:
      'REQUESTING TAKEOVER, validly signed, in seven forms of the same JSON: compact, with spaces, with \\u escapes, with \\/, indented, with a newline at the end, in another order of fields.',
    observes: 'The status of each answer. When one is refused, up to 28 wrong signatures, to name the mistake.',
    passes: 'Each status is 200.',
    knobs: { 'webhook.json': 'compact' },
    run: expectEverySerialisation,
  },
  {
    id: 'SIG-08',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'A replayed request opens no second conversation',
    sends: 'REQUESTING TAKEOVER, and exactly the same bytes and headers again after 10 s.',
    observes: 'Calls about the chat, and what the agent sees, after the replay.',
    passes: 'There is no further request for the agent, and no further call.',
    run: expectNoSecondConversation,
  },
  {
    id: 'SIG-09',
    level: 'INFO',
    profile: 'webhook',
    rules: ['PUB'],
    title: 'Another algorithm is noticed',
    sends:
      'REQUESTING TAKEOVER, validly signed, whose header names another algorithm than HMAC-SHA-256 (base64 encoded).',
    observes: 'The status of the answer.',
    passes:
      'The event is refused with 4xx: another value of the header means another algorithm, which the receiver cannot verify.',
    run: expectAlgorithmRead,
  },
]

async function expectHeadersAnswered(check: CheckContext): Promise<void> {
  const algorithm = (value: string[] | string | null): AlteredEvent => ({
    alteration: { headers: signed => withHeader(signed, algorithmHeaderOf(check), value) },
  })
  const signature = (change: (right: string) => string[]): AlteredEvent => ({
    alteration: { headers: changeSignature(check, change) },
  })
  const usual = 'HMAC-SHA-256 (base64 encoded)'
  await expectCleanAnswers(check, {
    'algorithm-missing': algorithm(null),
    'algorithm-other': algorithm('HMAC-SHA-512 (hex encoded)'),
    'algorithm-twice': algorithm([usual, usual]),
    'signature-twice': signature(right => [right, right]),
    'signatures-differ': signature(right => [right, right.toLowerCase()]),
  })
}

async function expectAlgorithmRead(check: CheckContext): Promise<void> {
  const value = 'HMAC-SHA-512 (base64 encoded)'
  const changed: AlteredEvent = {
    alteration: { headers: signed => withHeader(signed, algorithmHeaderOf(check), value) },
  }
  const answer = await check.send({ event: EVENT, chat: await openChat(check, 'other algorithm'), ...changed })
  const { status } = answer
  if (status === null || status >= 300) return
  check.report('INFO', 'algorithm-ignored', {
    happened: `The webhook answered ${status} to an event whose ${algorithmHeaderOf(check)} is "${value}": it does not read this header.`,
    hint: 'Nothing must be changed today. When the platform changes the algorithm it changes this header: a receiver that compares it can say so, where one that ignores it only refuses every signature.',
    details: { status, value },
    entries: [answer],
  })
}

async function expectValidAccepted(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'first')
  const answer = await check.send({ event: EVENT, chat })
  const { status } = answer
  // Only these are statuses with which intermediaries refuse signatures.
  if (status !== 400 && status !== 401 && status !== 403) return expectAcknowledged(check, answer)
  check.add(refusedSignature(answer, await diagnoseEveryForm(check, answer)))
}

/** `diagnosis`: null when no mistake was tried. */
export function refusedSignature(answer: DeliveryEntry, diagnosis: Diagnosis | null): FoundMistake {
  const { event, status } = answer
  const { accepts = null, entries = [], probes = 0 } = diagnosis ?? {}
  const tried = diagnosis === null ? '' : ` None of ${probes} usual mistakes explains the refusal.`
  let hint = `The signature is the base64 of the HMAC-SHA256 of the raw body, keyed with the API key (A4).${tried} Check that the intermediary uses the key of this run, and that its code finds the header (in Node its name is in lower case: request.headers['kindly-hmac']). ${LOG_BOTH}`
  if (diagnosis === null)
    hint =
      'Diagnose this delivery, which tries the usual mistakes: "Find out why" in the page, or POST /_sim/deliveries/latest/diagnose.'
  if (accepts !== null) hint = probeFix(accepts.code)
  return {
    ...{ code: 'valid-signature-refused', level: 'MUST' },
    happened: `The webhook answered ${status} to a validly signed ${event}.${accepts === null ? '' : ` ${acceptedText(accepts)}`}`,
    hint,
    details: { event, status, accepts, probes },
    entries: [answer, ...entries],
  }
}

async function expectNoSecondConversation(check: CheckContext): Promise<void> {
  const { core, limits } = check
  const { journal } = core
  const chat = await openChat(check, 'replayed')
  const sentMs = journal.atMs
  const first = await check.send({ event: EVENT, chat })
  expectAcknowledged(check, first)
  const effect = await effectWithin(check, chat, limits.effectMs)
  if (effect === null) {
    const text =
      'The webhook answered 200, and no effect of a valid event is visible, so neither is one of its replay. Give the agent driver (--agent-driver FILE) an inbox that lists requests.'
    return check.inconclusive({ code: 'no_visible_effect', text })
  }
  const waitedUntilMs = journal.atMs + limits.replayMs
  const shown = await readInboxUntil(check, chat, limits.replayMs, items => requestsIn(items) > 0)
  const shownMs = requestsIn(shown) > 0 ? journal.atMs - sentMs : 0
  await check.pause(waitedUntilMs - journal.atMs)
  // What was there before the replay. Endpoints that are called again and again, such as a notice to those who wait, are
  // not caused by the replay. Reads change nothing for the user or the agent.
  const requestsBefore = requestsIn(await chat.inbox())
  const callsBefore = chat.calls()
  const ignored = new Set<CallEntry['endpoint']>(['transcript', 'summarize', 'chat'])
  for (const { at_ms, endpoint } of callsBefore) if (at_ms > first.at_ms + limits.quietMs) ignored.add(endpoint)

  const replay = await core.dispatcher.resend(first, false)
  if (replay === null) throw new InterruptedError()
  if (replay.status === null) return reportNoAnswer(check, 'SHOULD', replay, [replay])
  // The help desk needs as long for a further request as for the first.
  await readInboxUntil(check, chat, limits.quietMs + shownMs, items => requestsIn(items) > requestsBefore)
  const requests = Math.max(0, requestsIn(await chat.inbox()) - requestsBefore)
  const calls = chat
    .calls()
    .slice(callsBefore.length)
    .filter(({ endpoint }) => !ignored.has(endpoint))
  if (requests === 0 && calls.length === 0) return
  const endpoints = [...new Set(calls.map(({ endpoint }) => endpoint ?? 'an unknown path'))]
  let consequence = `caused further calls: ${endpoints.join(', ')}`
  if (requests > 0)
    consequence = `shows the agent ${requests === 1 ? 'a further request' : `${requests} further requests`}`
  check.report('SHOULD', 'replay-used', {
    happened: `The same ${EVENT} again, after ${formatDuration(limits.replayMs)}, ${consequence}.`,
    hint: 'Find the conversation by chat.id first. While it waits for an agent, or has one, a further request for it changes nothing: answer 200. No time is signed, so a replay looks like a retry.',
    details: { event: EVENT, afterMs: limits.replayMs, requests, endpoints },
    entries: [first, replay, ...calls],
  })
}

const VERIFY =
  'Verify the signature before anything else is done with the event, and answer 401 when it does not match (A4).'
const WHOLE =
  'Only a part of the signature is compared. Compare the lengths and then all characters: timingSafeEqual in Node, hmac.compare_digest in Python, hash_equals in PHP.'
const TEXT =
  'The header is decoded before it is compared, and the decoder forgives. Compare it as text with the base64 of the HMAC.'

/** How an event is forged: what it has, which completes "an event with ...", and how to refuse it. */
const FORGERIES = {
  none: ['no signature', VERIFY],
  'wrong-key': ['a signature made with another key', VERIFY],
  tampered: [
    'one byte changed after signing',
    'Compute the HMAC over the whole raw body of this request, and compare it with the header.',
  ],
  empty: [
    'an empty signature',
    `An empty signature matches the beginning of every signature, or is taken for none. ${WHOLE}`,
  ],
  truncated: ['only the first 33 characters of its signature', WHOLE],
  'other-end': ['a signature that begins like the right one and ends otherwise', WHOLE],
  'letter-case': [
    'its signature in other letter case',
    'Base64 is case-sensitive: compare the header as it arrived, without toLowerCase.',
  ],
  'other-event': [
    'the signature of another event',
    'Compute the HMAC of this body with each request. A signature that was valid once says nothing about another body.',
  ],
  long: ['a signature of 10 KB', VERIFY],
  hex: [
    'its signature in hexadecimal instead of base64',
    'Compare the header as text with the base64 of the HMAC, and accept no other encoding.',
  ],
  base64url: ['its signature in base64url instead of base64', TEXT],
  doubled: ['its signature written twice, one after the other', TEXT],
} as const

export type Forgery = keyof typeof FORGERIES

/** The whole right signature in another writing: only who has the key can make it, so accepting it opens no way in. */
const EQUIVALENT_ENCODINGS: ReadonlySet<Forgery> = new Set(['hex', 'base64url', 'doubled'])

const TRUNCATED_CHARS = 33
const LONG_CHARS = 10_240

async function forge(
  check: CheckContext,
  chat: CheckChat,
  forgery: Forgery,
): Promise<Omit<CheckEvent, 'event' | 'chat'>> {
  const key = check.sim.apiKey
  if (forgery === 'none' || forgery === 'wrong-key' || forgery === 'tampered' || forgery === 'hex')
    return { sign: forgery }
  if (forgery === 'base64url')
    // Three of four signatures have a letter that base64url writes otherwise: changes the user until this one has.
    for (let user = 0; ; user++) {
      const body = bodyOf(check, chat, { user: { id: String(user).padStart(24, '0') } })
      const signature = await computeSignature(key, body)
      const recoded = signature.replaceAll('+', '-').replaceAll('/', '_')
      if (recoded !== signature) return { alteration: { body, headers: changeSignature(check, () => recoded) } }
    }
  const ofOtherEvent = await computeSignature(key, bodyOf(check, chat, { event: 'MESSAGE FROM USER' }))
  const withChangedSignature = (signature: string): string => {
    switch (forgery) {
      case 'empty':
        return ''
      case 'truncated':
        return signature.slice(0, TRUNCATED_CHARS)
      case 'other-end': {
        // Valid base64, so that a decoder accepts it.
        const start = signature.slice(0, TRUNCATED_CHARS - 1)
        const end = signature.slice(TRUNCATED_CHARS - 1)
        return start + end.replace(/[^=]/g, char => (char === 'A' ? 'E' : 'A'))
      }
      case 'letter-case':
        return signature.replace(/[a-z]/gi, char => (char < 'a' ? char.toLowerCase() : char.toUpperCase()))
      case 'other-event':
        return ofOtherEvent
      case 'long':
        return 'A'.repeat(LONG_CHARS)
      case 'doubled':
        return signature + signature
    }
  }
  return { alteration: { headers: changeSignature(check, withChangedSignature) } }
}

interface SentForgery extends AnsweredForgery {
  readonly chat: CheckChat
}

export interface AnsweredForgery {
  readonly forgery: Forgery
  readonly answer: DeliveryEntry
  readonly effect: ObservedEffect | null
  readonly level: Level
}

/**
 * Sends each forgery in a chat of its own, and then the control event. An accepted forgery without an effect is looked at
 * again when the control event has shown its effect: a help desk may show requests later than the check waits at first.
 */
async function expectRefused(check: CheckContext, forgeries: readonly Forgery[]): Promise<void> {
  const unseen: SentForgery[] = []
  for (const sent of await Promise.all(forgeries.map(forgery => sendForged(check, forgery)))) {
    const { status } = sent.answer
    // The answer accepts the event, and nothing shows whether it was used.
    if (sent.effect === null && status !== null && status < 300) unseen.push(sent)
    else addForged(check, sent)
  }
  const isVisible = await controlEvent(check, unseen.length > 0)
  for (const sent of unseen) {
    const effect = isVisible ? await effectWithin(check, sent.chat, 0) : null
    addForged(check, { ...sent, effect })
  }
  const first = unseen.find(({ level }) => level === 'MUST')
  if (first === undefined || isVisible) return
  const text = `The webhook answered ${first.answer.status ?? 0}, and a valid event has no visible effect either, so it is not visible whether the event was used. Answer 401 to events that are not signed correctly, or give the agent driver (--agent-driver FILE) an inbox that lists requests.`
  check.inconclusive({ code: 'no_visible_effect', text })
}

async function sendForged(check: CheckContext, forgery: Forgery): Promise<SentForgery> {
  const chat = await openChat(check, forgery)
  const answer = await check.send({ event: EVENT, chat, ...(await forge(check, chat, forgery)) })
  const effect = await effectWithin(check, chat, check.limits.quietMs)
  return { forgery, chat, answer, effect, level: EQUIVALENT_ENCODINGS.has(forgery) ? 'SHOULD' : 'MUST' }
}

function addForged(check: CheckContext, answered: AnsweredForgery): void {
  const mistake = acceptedForgery(answered)
  if (mistake !== null) check.add(mistake)
}

/** One finding says it: an event that is used is not also reported as accepted. Null: it was refused. */
export function acceptedForgery({ forgery, answer, effect, level }: AnsweredForgery): FoundMistake | null {
  const { status, failure = null } = answer
  const [difference, hint] = FORGERIES[forgery]
  const event = `${answer.event} with ${difference}`
  const details = { event: answer.event, forgery }
  if (effect !== null)
    return {
      ...{ code: 'forged-event-used', level },
      happened: `The webhook accepted a forged event: ${event} had an effect: ${EFFECT_TEXTS[effect.kind]}.`,
      hint,
      details: { ...details, effect: effect.kind },
      entries: [answer, effect],
    }
  if (status === null)
    return {
      ...{ code: 'forged-event-unanswered', level },
      happened: `The webhook gave no answer to a forged event, ${event}${suffix(failure && failureText(failure))}.`,
      hint: 'Look for an exception in the comparison that nothing catches. timingSafeEqual of Node throws when the lengths differ; a handler that throws must still answer.',
      details: { ...details, failure },
      entries: [answer],
    }
  if (status >= 500)
    return {
      ...{ code: 'forged-event-error', level: 'SHOULD' },
      happened: `The webhook failed at a forged event: it answered ${status} to ${event}.`,
      hint: 'Look for an exception in the comparison, and answer 401. timingSafeEqual of Node throws when the lengths differ, and decoders throw for text that is not base64: compare the lengths first, as text.',
      details: { ...details, status },
      entries: [answer],
    }
  if (status >= 400) return null
  return {
    ...{ code: 'forged-event-accepted', level: 'SHOULD' },
    happened: `The webhook accepted a forged event: it answered ${status} to ${event}.`,
    hint: `${hint} An answer of 200 hides a wrong key: all events would be lost without a sign.`,
    details: { ...details, status },
    entries: [answer],
  }
}

const FORMS: readonly JsonForm[] = ROTATED['webhook.json']

/** Completes "their JSON was ...". */
const FORM_TEXTS: Readonly<Record<JsonForm, string>> = {
  compact: 'compact',
  spaced: 'spaced',
  ascii: 'ASCII with \\u escapes',
  slashes: 'written with \\/',
  pretty: 'indented',
  newline: 'followed by a newline',
  reordered: 'in another order of fields',
}

/** For the diagnosis of a refused form: those that most programs change come first. */
const DIAGNOSIS_ORDER: readonly JsonForm[] = ['pretty', 'newline', 'spaced', 'slashes', 'ascii', 'reordered', 'compact']

const REWRITTEN = 'Only what JSON.stringify writes passes: the body is parsed and written again before it is verified.'

/** What it means when exactly these forms are refused. */
const PATTERNS: readonly { readonly name: string; readonly forms: readonly JsonForm[]; readonly meaning: string }[] = [
  { name: 'every', forms: FORMS, meaning: 'No form passes, so the form is not the reason.' },
  {
    name: 'non-ascii',
    forms: ['compact', 'spaced', 'slashes', 'pretty', 'newline', 'reordered'],
    meaning:
      'Events with non-ASCII text fail and the one without it passes: the body is decoded before it is verified.',
  },
  { name: 'rewritten', forms: ['spaced', 'ascii', 'slashes', 'pretty', 'newline'], meaning: REWRITTEN },
  { name: 'rewritten', forms: ['spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'], meaning: REWRITTEN },
  {
    name: 'newline',
    forms: ['newline'],
    meaning: 'Only the body with a newline at its end fails: the body is trimmed before it is verified.',
  },
  {
    name: 'line-breaks',
    forms: ['newline', 'pretty'],
    meaning: 'Bodies with line breaks fail: the body is read by lines, or its line breaks are changed.',
  },
  {
    name: 'escapes',
    forms: ['ascii', 'slashes'],
    meaning: 'Bodies with backslashes fail: escapes are removed before the body is verified.',
  },
  {
    name: 'order',
    forms: ['reordered'],
    meaning: 'Only another order of the fields fails: fields are put in order before the body is verified.',
  },
]
const MIXED = { name: 'mixed', meaning: 'So the bytes are changed before they are verified.' }

interface SentForm {
  readonly form: JsonForm
  readonly chat: CheckChat
  readonly body: string
  readonly answer: DeliveryEntry
}

async function expectEverySerialisation(check: CheckContext): Promise<void> {
  const refused: SentForm[] = []
  for (const sent of await Promise.all(FORMS.map(form => sendForm(check, form))))
    if (sent.answer.status !== 200) refused.push(sent)
  if (refused.length > 0) await reportRefused(check, refused)
  if (!refused.some(({ form }) => form === 'compact')) await controlEvent(check, false)
}

async function sendForm(check: CheckContext, form: JsonForm): Promise<SentForm> {
  const chat = await openChat(check, form)
  // The letters of the name are written as escapes in one form only.
  const body = bodyOf(check, chat, { bot: { id: check.sim.botId, name: 'Blåbær 🫐' } }, form)
  return { form, chat, body, answer: await check.send({ event: EVENT, chat, alteration: { body } }) }
}

async function reportRefused(check: CheckContext, refused: readonly SentForm[]): Promise<void> {
  const forms = new Map<JsonForm, SentForm>()
  const answers: DeliveryEntry[] = []
  let isAnswered = false
  for (const sent of refused) {
    forms.set(sent.form, sent)
    answers.push(sent.answer)
    if (sent.answer.status !== null) isAnswered = true
  }
  const [first] = answers
  if (first !== undefined && !isAnswered) return reportNoAnswer(check, 'MUST', first, [first])
  const clearest = DIAGNOSIS_ORDER.find(form => forms.has(form)) ?? 'compact'
  const { chat, body, answer } = forms.get(clearest)!
  const { accepts, entries } = await diagnoseBody(check, chat, body, answer)
  const pattern =
    PATTERNS.find(pattern => pattern.forms.length === forms.size && pattern.forms.every(form => forms.has(form))) ??
    MIXED
  const byAnswer: Record<'refused' | 'accepted', JsonForm[]> = { refused: [], accepted: [] }
  for (const form of FORMS) byAnswer[forms.has(form) ? 'refused' : 'accepted'].push(form)
  const names = (list: readonly JsonForm[]) => list.map(form => FORM_TEXTS[form]).join(', ')
  const accepted = byAnswer.accepted.length === 0 ? '' : `, and accepted when it was ${names(byAnswer.accepted)}`
  const variant = accepts === null ? '' : ` ${acceptedText(accepts)}`
  check.report('MUST', 'serialisation-refused', {
    happened: `Valid events were refused when their JSON was ${names(byAnswer.refused)}${accepted}. ${pattern.meaning}${variant}`,
    hint:
      accepts === null
        ? `Verify the raw body. A body that is parsed, decoded or trimmed before has other bytes, and its signature differs. ${LOG_BOTH}`
        : probeFix(accepts.code),
    details: { ...byAnswer, status: first?.status ?? null, pattern: pattern.name, accepts },
    entries: [...answers, ...entries],
  })
}

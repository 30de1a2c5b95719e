/** WIR: requests that HTTP allows and that are rarely seen. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { type CheckChat, openChat } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, CheckEvent } from '../context.ts'
import { controlEvent } from '../observe.ts'
import { bodyOf, EVENT, withHeader } from '../sent-bodies.ts'
import { suffix } from '../words.ts'

export const WIRE_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'WIR-01',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'Every legal way to send a request is accepted',
    sends:
      'REQUESTING TAKEOVER in chunks, with header names in unusual case, slowly in pieces, and with a charset; each in a chat of its own.',
    observes: 'The status of each answer.',
    passes: 'Each status is 200.',
    run: sendLegalRequests,
  },
  {
    id: 'WIR-02',
    level: 'SHOULD',
    profile: 'webhook',
    rules: ['GP'],
    title: 'Unusual requests are answered cleanly',
    sends:
      'REQUESTING TAKEOVER with a byte order mark, without a Content-Type, and with two; each validly signed. Then a usual one.',
    observes: 'The status and the time of each answer.',
    passes:
      'Each is accepted, or refused with 4xx, within the time of an acknowledgement; the usual event is answered with 200.',
    run: sendUnusualRequests,
  },
]

async function sendLegalRequests(check: CheckContext): Promise<void> {
  if (!check.hasWire) {
    const text = 'The intermediary is a function in this process, so there is no connection to observe.'
    return check.inconclusive({ code: 'no_wire', text })
  }
  const legal: VariantEvents = {
    chunked: { sending: { http: ['chunked'] } },
    'header-case': { sending: { http: ['header-case'] } },
    'slow-body': { sending: { drip: '500ms' } },
    charset: withContentType('application/json; charset=utf-8'),
  }
  await sendVariants(check, legal, true)
}

async function sendUnusualRequests(check: CheckContext): Promise<void> {
  await expectCleanAnswers(check, {
    'byte-order-mark': chat => ({ alteration: { body: `\ufeff${bodyOf(check, chat)}` } }),
    'content-type-missing': withContentType(null),
    'content-type-twice': withContentType(['application/json', 'application/json; charset=utf-8']),
  })
}

function withContentType(value: string | string[] | null): AlteredEvent {
  return { alteration: { headers: signed => withHeader(signed, 'content-type', value) } }
}

const ALGORITHM_OPTIONAL =
  'The header that names the algorithm may be missing: the signature is HMAC-SHA256 as base64 then. Answer 401 to another value.'
const LIST = 'A header that comes twice is a list in some frameworks: code that expects text then throws.'
const ONE_TEXT =
  'A header that comes twice is a list, or two values joined by a comma: answer 401 unless it is one text.'

/** How a request differs from the usual one: what it has, which completes "an event with ...", and how to handle it. */
const VARIANTS = {
  'algorithm-missing': ['no header that names the algorithm', ALGORITHM_OPTIONAL],
  'algorithm-other': ['another value of the header that names the algorithm', ALGORITHM_OPTIONAL],
  'algorithm-twice': ['the header that names the algorithm twice', LIST],
  'signature-twice': ['the signature header twice', ONE_TEXT],
  'signatures-differ': ['two signature headers, the second one wrong', ONE_TEXT],
  chunked: [
    'a body in chunks, without Content-Length',
    'Read the body to its end, whatever Content-Length says: a chunked body has none.',
  ],
  'header-case': [
    'header names in unusual letter case',
    'Look up headers without regard to case, with what the framework offers for it.',
  ],
  'slow-body': [
    'a body that arrives in pieces',
    'Read the body to its end before it is verified: it may come in several pieces.',
  ],
  charset: ['a charset in the Content-Type', 'Compare only the part of Content-Type before the semicolon.'],
  'byte-order-mark': [
    'a byte order mark before its JSON',
    'Catch errors of the JSON parser and answer 400, or remove the mark after the signature is verified.',
  ],
  'content-type-missing': [
    'no Content-Type',
    'A missing header is null: check for it, and then read the body as JSON or answer 415.',
  ],
  'content-type-twice': ['the Content-Type header twice', LIST],
} as const

export type AlteredEvent = Omit<CheckEvent, 'event' | 'chat'>

/** What to send for each variant. */
export type VariantEvents = {
  readonly [Variant in keyof typeof VARIANTS]?: AlteredEvent | ((chat: CheckChat) => AlteredEvent)
}

/** Sends all at once, and then the control event. Any status below 500 is clean. */
export async function expectCleanAnswers(check: CheckContext, events: VariantEvents): Promise<void> {
  await sendVariants(check, events, false)
  await controlEvent(check, false)
}

async function sendVariants(check: CheckContext, events: VariantEvents, mustAccept: boolean): Promise<void> {
  const sent: Promise<void>[] = []
  for (const [variant, event] of Object.entries(events))
    sent.push(sendVariant(check, variant as keyof typeof VARIANTS, event, mustAccept))
  await Promise.all(sent)
}

async function sendVariant(
  check: CheckContext,
  variant: keyof typeof VARIANTS,
  event: AlteredEvent | ((chat: CheckChat) => AlteredEvent),
  mustAccept: boolean,
): Promise<void> {
  const { ackMs } = check.limits
  const [difference, hint] = VARIANTS[variant]
  const chat = await openChat(check, variant)
  const altered = typeof event === 'function' ? event(chat) : event
  const answer = await check.send({ event: EVENT, chat, ...altered })
  const { status, failure = null, duration_ms: durationMs } = answer
  const report = (code: string, happened: string, advice: string, details: object) =>
    check.report('SHOULD', code, {
      happened,
      hint: advice,
      details: { event: EVENT, variant, ...details },
      entries: [answer],
    })
  const what = `${EVENT} with ${difference}`
  if (status === null) {
    const why = suffix(failure && failureText(failure))
    const advice = `${hint} A handler that throws must still answer.`
    report('variant-unanswered', `The webhook gave no answer to ${what}${why}.`, advice, { failure })
  } else if (status >= 500) {
    report('variant-error', `The webhook answered ${status} to ${what}, and neither 200 nor 4xx.`, hint, { status })
  } else if (durationMs > ackMs && altered.sending?.drip === undefined) {
    // The time of a body that is sent slowly is not that of the intermediary.
    const limit = formatDuration(ackMs)
    const happened = `The webhook answered ${what} after ${formatDuration(durationMs)}; the limit is ${limit}.`
    report('variant-late', happened, hint, { durationMs, limitMs: ackMs })
  } else if (mustAccept && status !== 200) {
    const happened = `The webhook answered ${status} to a validly signed ${what}. HTTP allows this, and libraries and proxies do it.`
    report('variant-refused', happened, hint, { status })
  }
}

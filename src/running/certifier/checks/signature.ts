/** SIG: the signature of events. */

import { formatDuration } from '../../../base/text/quantities.ts'
import { InterruptedError } from '../../runner/waiting.ts'
import { expectAcknowledged, openChat, reportNoAnswer } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { ChatCall, CheckContext } from '../context.ts'
import { effectWithin, readInboxUntil, requestsIn } from '../observe.ts'
import { acceptedText, diagnoseEveryForm, fixOf, LOG_BOTH } from '../signatures/diagnosis.ts'
import { expectRefused } from '../signatures/forged-events.ts'
import { algorithmHeaderOf, changeSignature, EVENT, withHeader } from '../signatures/sent-bodies.ts'
import { expectEverySerialisation } from '../signatures/serialisations.ts'
import { type AlteredEvent, expectCleanAnswers } from './wire.ts'

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
    id: 'SIG-02',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    title: 'An event without a signature has no effect',
    sends: 'REQUESTING TAKEOVER without the signature headers, then a valid one in another chat.',
    observes: 'The answer, calls about the chat, and what the agent sees.',
    passes: 'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    run: check => expectRefused(check, ['none']),
  },
  {
    id: 'SIG-03',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    title: 'A signature made with another key has no effect',
    sends: 'REQUESTING TAKEOVER signed with another key, then a valid one in another chat.',
    observes: 'The answer, calls about the chat, and what the agent sees.',
    passes: 'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
    run: check => expectRefused(check, ['wrong-key']),
  },
  {
    id: 'SIG-04',
    level: 'MUST',
    profile: 'webhook',
    rules: ['A4'],
    title: 'A body that was changed after signing has no effect',
    sends: 'REQUESTING TAKEOVER in which one byte of a value was changed after signing, then a valid one.',
    observes: 'The answer, calls about the chat, and what the agent sees.',
    passes: 'Nothing happens to the chat (MUST), the status is 4xx (SHOULD), and the valid event is answered with 200.',
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
    observes: 'The status of each answer. When one is refused, up to 20 wrong signatures, to name the mistake.',
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

async function expectValidAccepted(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'first')
  const answer = await check.send({ event: EVENT, chat })
  const { event, status } = answer
  // Only these are statuses with which intermediaries refuse signatures.
  if (status !== 400 && status !== 401 && status !== 403) return expectAcknowledged(check, answer)
  const { accepts, entries, probes } = await diagnoseEveryForm(check)
  check.report('MUST', 'valid-signature-refused', {
    happened: `The webhook answered ${status} to a validly signed ${event}.${accepts === null ? '' : ` ${acceptedText(accepts)}`}`,
    hint:
      accepts === null
        ? `The signature is the base64 of the HMAC-SHA256 of the raw body, keyed with the API key (A4). None of ${probes} usual mistakes explains the refusal. Check that the intermediary uses the key of this run, and that its code finds the header (in Node its name is in lower case: request.headers['kindly-hmac']). ${LOG_BOTH}`
        : fixOf(accepts),
    details: { event, status, accepts, probes },
    entries: [answer, ...entries],
  })
}

async function expectNoSecondConversation(check: CheckContext): Promise<void> {
  const { core, limits } = check
  const { journal } = core
  const chat = await openChat(check, 'replayed')
  const sentMs = journal.atMs
  const first = await check.send({ event: EVENT, chat })
  expectAcknowledged(check, first)
  const effect = await effectWithin(check, chat, limits.effectMs)
  if (effect === null) return check.inconclusive({ code: 'no_visible_effect', status: 200 })
  const waitedUntilMs = journal.atMs + limits.replayMs
  const shown = await readInboxUntil(check, chat, limits.replayMs, items => requestsIn(items) > 0)
  const shownMs = requestsIn(shown) > 0 ? journal.atMs - sentMs : 0
  await check.pause(waitedUntilMs - journal.atMs)
  // What was there before the replay. Endpoints that are called again and again, such as a notice to those who wait, are
  // not caused by the replay. Reads change nothing for the user or the agent.
  const requestsBefore = requestsIn(await chat.inbox())
  const callsBefore = chat.calls()
  const ignored = new Set<ChatCall['endpoint']>(['transcript', 'summarize', 'chat'])
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

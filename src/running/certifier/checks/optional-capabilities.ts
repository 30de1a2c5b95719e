/** ATT, TRL, TYP, AVL: optional capabilities. A check does not apply to an intermediary without its capability. */

import { isSuccess } from '../../../base/http-status.ts'
import { isMap } from '../../../base/objects.ts'
import { isLoopback } from '../../../base/text/hosts.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import { type CallEntry, isAccepted } from '../../../evaluation/history.ts'
import { reasonMissing } from '../../../evaluation/rules/reason-missing.ts'
import { endsByItself, typingNeverStopped } from '../../../evaluation/rules/typing-never-stopped.ts'
import type { NewFile } from '../../../platform/rules/files.ts'
import type { InboxItem } from '../../agent-driver/driver.ts'
import { agentsAre, expectAcknowledged, openChat, openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { compareOrder, compareSamples, type Exchange, receivedTexts } from '../exchange.ts'
import { inboxUntil, lastEntry } from '../observe.ts'

export const OPTIONAL_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'ATT-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E4.4', 'EV5', 'R-ATT'],
    capability: 'attachments',
    needs: ['accept', 'inbox'],
    title: 'The agent gets the files of the user',
    sends: 'A message with two files, and one with a file and no text.',
    observes: 'The answers of the webhook, and the files that the agent sees.',
    passes:
      'The agent sees all three files by name, each with a link that works (MUST), in order (SHOULD). Without supports_attachment: true in start, the platform sends no files (SHOULD).',
    run: sendFiles,
  },
  {
    id: 'TRL-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['E4.3', 'E4.7', 'E4.8', 'E4.9'],
    capability: 'translation',
    needs: ['accept', 'says', 'inbox'],
    knobs: { 'translation.engine': 'marker', 'translation.match': 'primary' },
    title: 'Only the platform translates',
    sends: 'A handover in a chat whose language no agent speaks; the user and the agent write.',
    observes: 'sender.language_codes of start, what the agent sees, and the calls of message.',
    passes:
      'language_codes is a list of languages without that of the chat; the agent sees the translation of the platform, once; the text of the agent is sent as it was written.',
    run: translate,
  },
  {
    id: 'TYP-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['E7.2', 'E7.5', 'L5'],
    capability: 'typing',
    needs: ['accept', 'type'],
    title: 'The typing indicator ends when the agent is idle',
    sends: 'The agent types, and then does nothing.',
    observes: 'The calls of typing_start, typing_stop, message and end.',
    passes:
      'typing_start has a timeout, an integer from 500 to 60000 ms; or typing_stop, message or end follows within 30 s.',
    run: typeAndIdle,
  },
  {
    id: 'AVL-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E3.2', 'E3.4', 'ST25', 'ST26'],
    capability: 'availability',
    needs: ['away', 'back'],
    // The availability is that of the whole bot, and its calls name no chat.
    exclusive: true,
    knobs: { 'availability.initial': 'CLOSED' },
    title: 'Handover closes and opens with the agents',
    sends: 'All agents go away and come back, twice: first while handover is closed, then while it is open.',
    observes: 'The calls of availability.',
    passes: 'CLOSED comes when they are away (SHOULD), OPEN when they are back (MUST), with a reason (SHOULD).',
    run: goAwayTwice,
  },
]

const FILES: readonly NewFile[] = [
  { name: 'receipt.pdf', type: 'application/pdf', sizeKb: 3 },
  { name: 'photo 1.png', type: 'image/png', sizeKb: 2 },
  { name: 'notes.txt', type: 'text/plain', sizeKb: 1 },
]

type Attachment = NonNullable<InboxItem['attachments']>[number]

async function sendFiles(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'first')
  const start = await chat.takeOver()
  expectAcknowledged(check, await chat.says('Here are both pages.', FILES.slice(0, 2)))
  expectAcknowledged(check, await chat.says('', FILES.slice(2)))
  const expected = FILES.map(({ name }) => name)
  let attachments: Attachment[] = []
  let received: string[] = []
  let missing: string[] = []
  await inboxUntil(check, chat, items => {
    attachments = []
    for (const item of items) attachments.push(...(item.attachments ?? []))
    received = []
    for (const { name = '' } of attachments) if (expected.includes(name)) received.push(name)
    missing = expected.filter(name => !received.includes(name))
    return missing.length === 0
  })
  const entries = lastEntry(check)
  const withinMs = check.limits.effectMs
  const isDeclared = isMap(start.request.body) && start.request.body.supports_attachment === true
  if (missing.length > 0)
    // The platform leaves it to the caller whether files are forwarded (E4.4).
    check.report(isDeclared ? 'MUST' : 'SHOULD', 'files-missing', {
      happened: `The agent does not see ${missing.join(', ')} within ${formatDuration(withinMs)}${isDeclared ? '.' : '; start was called without supports_attachment: true.'}`,
      hint: isDeclared
        ? 'Look how the event is read: `attachments` may come with an empty `message`, which is not an empty event (EV5).'
        : 'Send `supports_attachment: true` with start: without it the platform leaves the files out of its events.',
      details: { missing, arrived: received.length, wasDeclared: isDeclared, withinMs },
      entries,
    })
  else if (received.join() !== expected.join())
    check.report('SHOULD', 'files-order', {
      happened: `The agent sees ${received.join(', ')}; the order was ${expected.join(', ')}.`,
      hint: 'Keep the order of `attachments`, and do not handle the files of one message at the same time.',
      details: { expected, received },
      entries,
    })
  await openLinks(check, attachments, entries)
}

/**
 * Opens links to this machine, and reports those that are no address or do not answer 2xx. A driver may return names only;
 * a link that is missing while others have one is broken.
 */
async function openLinks(
  check: CheckContext,
  attachments: readonly Attachment[],
  entries: ReturnType<typeof lastEntry>,
): Promise<void> {
  const hasLinks = attachments.some(({ url }) => url !== undefined)
  const unobserved: string[] = []
  for (const { name = 'an attachment', url = '' } of attachments) {
    // A path alone is relative to a page that is unknown.
    if (/^\.{0,2}\//.test(url) || (url === '' && !hasLinks)) {
      unobserved.push(name)
      continue
    }
    let status: number | null = null
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
      if (!check.hasWire || !isLoopback(new URL(url).hostname)) continue
      status = await statusOf(url, check)
    }
    if (isSuccess(status)) continue
    check.report('MUST', 'link-broken', {
      happened:
        url === ''
          ? `The agent sees ${name} without a link.`
          : `The link of ${name} that the agent sees, ${url}, ${status === null ? 'does not open' : `answers ${status}`}.`,
      hint: 'Pass the `url` of the attachment on unchanged, or download the file and store it where agents can read it.',
      details: { name, url, status },
      entries,
    })
  }
  if (unobserved.length === 0) return
  check.report('INFO', 'links-not-observed', {
    happened: `The inbox of the agent driver has no complete link for ${unobserved.join(', ')}, so the check did not open any of these.`,
    hint: 'Return the `url` of each attachment from the inbox, with scheme and host, or open the files in the help desk by hand.',
    details: { names: unobserved },
    entries,
  })
}

/** Null when nothing answers in time. */
async function statusOf(url: string, { limits: { effectMs }, signal }: CheckContext): Promise<number | null> {
  try {
    const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(effectMs)])
    const { status, body } = await fetch(url, { signal: timeLimit, redirect: 'manual' })
    await body?.cancel()
    return status
  } catch {
    return null
  }
}

/** Faroese. */
const RARE_LANGUAGE = 'fo'
const FROM_USER = 'Where is parcel-1?'
const FROM_AGENT: Exchange = {
  level: 'SHOULD',
  direction: 'to_user',
  samples: [{ name: 'the message of the agent', token: 'parcel-2', text: 'I see parcel-2.' }],
}

async function translate(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'first', { language: RARE_LANGUAGE })
  expectLanguages(check, await chat.takeOver())
  expectAcknowledged(check, await chat.says(FROM_USER))
  // What the platform made of the text of the user.
  const entry = check.core.journal.query({ kind: 'user', chatId: chat.id }).at(-1)
  const text = entry?.text_for_agent ?? entry?.text ?? ''
  const samples = [{ name: 'the translation of the platform', token: 'parcel-1', text }]
  const fromUser = { level: 'SHOULD', direction: 'to_agent', samples } as const
  if (compareSamples(check, fromUser, await receivedTexts(check, chat, 'to_agent', samples))) {
    await check.pause(check.limits.quietMs)
    compareOrder(check, fromUser, await receivedTexts(check, chat, 'to_agent'))
  }
  for (const sample of FROM_AGENT.samples) await chat.agent('says', { text: sample.text })
  compareSamples(check, FROM_AGENT, await receivedTexts(check, chat, 'to_user', FROM_AGENT.samples))
}

function expectLanguages(check: CheckContext, start: CallEntry): void {
  const { body } = start.request
  const codes = isMap(body) && isMap(body.sender) ? body.sender.language_codes : undefined
  const isEmpty = Array.isArray(codes)
  const languages = isEmpty ? codes.map(String) : []
  if (languages.length === 0) {
    check.report('SHOULD', 'languages-missing', {
      happened: isEmpty
        ? 'start had an empty list as sender.language_codes.'
        : 'start had no list as sender.language_codes.',
      hint: 'Send `sender: { language_codes: ["en"] }` with the languages of the agent, which turns live translation on (R-SENDER.5), or declare `translation: false`.',
      details: { isEmpty },
      entries: [start],
    })
    throw new CheckEndedError('language_codes')
  }
  if (!languages.some(code => code.toLowerCase().startsWith(RARE_LANGUAGE))) return
  check.report('SHOULD', 'languages-copied', {
    happened: `start named ${languages.join(', ')} as languages of the agent in a chat in ${RARE_LANGUAGE}, so nothing is translated.`,
    hint: 'Take the languages from the profile of the agent; the platform compares them with the language of the chat.',
    details: { languages, language: RARE_LANGUAGE },
    entries: [start],
  })
  throw new CheckEndedError('language_codes')
}

async function typeAndIdle(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  await chat.agent('type')
  const call = await chat.requireCall('typing_start', 'the agent typed', 'SHOULD')
  const hasEnded = () => chat.calls(['typing_stop', 'message', 'end'], call.seq).length > 0
  if (endsByItself(call) || (await check.until(hasEnded, check.limits.typingMs))) return
  check.judge([typingNeverStopped], chat.entries())
}

type Availability = 'OPEN' | 'CLOSED'

/** No answer shows the availability, so an intermediary must send it also when the platform has it already. */
async function goAwayTwice(check: CheckContext): Promise<void> {
  for (const before of ['CLOSED', 'OPEN'] as const) {
    let areAway = true
    try {
      await expectAvailability(check, 'away', 'CLOSED', before)
      areAway = false
      await expectAvailability(check, 'back', 'OPEN', 'CLOSED')
    } finally {
      // The checks after this one need agents.
      if (areAway) await agentsAre(check, 'back')
    }
  }
  check.judge([reasonMissing], availabilityCalls(check, 0))
}

const availabilityCalls = ({ core: { journal } }: CheckContext, after: number): CallEntry[] =>
  journal.query({ kind: 'api', after }).filter(({ endpoint }) => endpoint === 'availability')

async function expectAvailability(
  check: CheckContext,
  verb: 'away' | 'back',
  expected: Availability,
  before: Availability,
): Promise<void> {
  const lastSeq = check.core.journal.nextSeq - 1
  await agentsAre(check, verb)
  const isSent = () =>
    availabilityCalls(check, lastSeq).some(call => isAccepted(call) && textField(call, 'availability') === expected)
  const withinMs = check.limits.effectMs
  if (await check.until(isSent, withinMs)) return
  const received: { status: number; availability: string | null }[] = []
  const calls: string[] = []
  for (const call of availabilityCalls(check, lastSeq)) {
    const availability = textField(call, 'availability')
    received.push({ status: call.status, availability })
    calls.push(`${availability ?? 'no availability'} (answered ${call.status})`)
  }
  // To close is a choice of the integrator (E3); who has closed must open again (ST25, ST26).
  check.report(expected === 'OPEN' ? 'MUST' : 'SHOULD', 'availability-missing', {
    happened: `No accepted call of availability with ${expected} came within ${formatDuration(withinMs)} after all agents were ${verb}, while handover was ${before}${calls.length === 0 ? '.' : `; received: ${calls.join(', ')}.`}`,
    hint:
      expected === 'OPEN'
        ? 'Send OPEN with every return of an agent, also when you believe that handover is open: time alone reopens nothing (ST25).'
        : 'Send CLOSED when the last agent goes away: users would wait for an agent who is not there.',
    details: { verb, expected, before, received, withinMs },
    entries: lastEntry(check),
  })
  throw new CheckEndedError('availability')
}

function textField({ request: { body } }: CallEntry, name: string): string | null {
  const value = isMap(body) ? body[name] : undefined
  return typeof value === 'string' ? value : null
}

/** ATT, TRL, TYP, AVL: what a help desk may not have. Each needs a capability. */

import { isMap } from '../../../base/objects.ts'
import type { NewFile } from '../../../platform/rules/files.ts'
import type { InboxItem } from '../../agent-driver/driver.ts'
import { agentsAre } from '../agent-actions.ts'
import { type ChatCall, type CheckChat, expectAcknowledged, requireCall } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import {
  compareOrder,
  compareSamples,
  inboxUntil,
  isAccepted,
  lastEntry,
  observeSilence,
  type Sample,
  textsSeenByAgent,
  textsSentToUser,
} from '../exchange.ts'
import { observeLinks } from '../links.ts'

export const DESK_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'ATT-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E4.4', 'EV5', 'R-ATT'],
    capability: 'attachments',
    needs: ['accept', 'inbox'],
    texts: {
      title: 'The agent gets the files of the user',
      sends: 'A message with two files, and one with a file and no text.',
      observes: 'The answers of the webhook, and the files that the agent sees.',
      passes: 'The agent sees all three files by name, in order, each with a link that works.',
    },
    run: sendFiles,
  },
  {
    id: 'TRL-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['E4.3', 'E4.7', 'E4.8', 'E4.9'],
    capability: 'translation',
    needs: ['accept', 'says', 'inbox'],
    // A missing sender is reported by FLW-03, and must not hide how texts are sent.
    knobs: { 'translation.engine': 'marker', 'translation.match': 'primary', 'strict.sender': 'off' },
    texts: {
      title: 'The platform translates, and nobody else',
      sends: 'A handover in a chat whose language no agent speaks; the user and the agent write.',
      observes: 'sender.language_codes of start, what the agent sees, and the calls of message.',
      passes:
        'language_codes is a list of languages without that of the chat; the agent sees the translation of the platform, once; the text of the agent is sent as it was written.',
    },
    run: translate,
  },
  {
    id: 'TYP-01',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['E7.2', 'E7.5', 'L5'],
    capability: 'typing',
    needs: ['accept', 'type'],
    texts: {
      title: 'The typing indicator ends when the agent is idle',
      sends: 'The agent types, and then does nothing.',
      observes: 'The calls of typing_start, typing_stop, message and end.',
      passes:
        'typing_start has a timeout, an integer from 500 to 60000 ms; or typing_stop, message or end follows within 30 s.',
    },
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
    texts: {
      title: 'Handover closes and opens with the agents',
      sends: 'All agents go away and come back, twice: first while handover is closed, then while it is open.',
      observes: 'The calls of availability.',
      passes: 'CLOSED comes when they are away, OPEN when they are back (MUST), with a reason (SHOULD).',
    },
    run: goAwayTwice,
  },
]

const FILES: readonly NewFile[] = [
  { name: 'receipt.pdf', type: 'application/pdf', sizeKb: 3 },
  { name: 'photo 1.png', type: 'image/png', sizeKb: 2 },
  { name: 'notes.txt', type: 'text/plain', sizeKb: 1 },
]

async function sendFiles(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  const { request } = await chat.takeOver()
  expectAcknowledged(check, await chat.says('Here are both pages.', FILES.slice(0, 2)))
  expectAcknowledged(check, await chat.says('', FILES.slice(2)))
  const expected = FILES.map(({ name }) => name)
  const items = await inboxUntil(check, chat, seen => expected.every(name => namesIn(seen).includes(name)))
  const names = namesIn(items).filter(name => expected.includes(name))
  const missing = expected.filter(name => !names.includes(name))
  const wasDeclared = isMap(request.body) && request.body.supports_attachment === true
  const shown = lastEntry(check)
  if (missing.length > 0)
    check.report('MUST', 'files-missing', { missing, wasDeclared, withinMs: check.limits.effectMs }, shown)
  else if (names.join() !== expected.join()) check.report('MUST', 'files-order', { expected, received: names }, shown)
  const { broken, unobserved } = await observeLinks(check, attachmentsIn(items))
  for (const link of broken) check.report('MUST', 'link-broken', link, shown)
  if (unobserved.length > 0) check.report('INFO', 'links-not-observed', { names: unobserved }, shown)
}

const attachmentsIn = (items: readonly InboxItem[]) => items.flatMap(({ attachments }) => attachments ?? [])
const namesIn = (items: readonly InboxItem[]): string[] => attachmentsIn(items).flatMap(({ name }) => name ?? [])

/** Faroese. */
const RARE_LANGUAGE = 'fo'
const FROM_USER = 'Where is parcel-1?'
const FROM_AGENT: readonly Sample[] = [{ name: 'the message of the agent', token: 'parcel-2', text: 'I see parcel-2.' }]

async function translate(check: CheckContext): Promise<void> {
  const chat = await check.chat('first', { language: RARE_LANGUAGE })
  const start = await chat.takeOver()
  expectLanguages(check, start)
  expectAcknowledged(check, await chat.says(FROM_USER))
  const text = translationOf(check, chat)
  const fromUser = [{ name: 'the translation of the platform', token: 'parcel-1', text }]
  if (compareSamples(check, 'SHOULD', 'to_agent', fromUser, await textsSeenByAgent(check, chat, fromUser))) {
    await observeSilence(check)
    compareOrder(check, 'SHOULD', 'to_agent', fromUser, await textsSeenByAgent(check, chat, []))
  }
  for (const sample of FROM_AGENT) await chat.agent('says', { text: sample.text })
  compareSamples(check, 'SHOULD', 'to_user', FROM_AGENT, await textsSentToUser(check, chat, FROM_AGENT))
}

function expectLanguages(check: CheckContext, start: ChatCall): void {
  const { body } = start.request
  const codes = isMap(body) && isMap(body.sender) ? body.sender.language_codes : undefined
  const languages = Array.isArray(codes) ? codes.map(String) : []
  if (languages.length === 0) check.report('SHOULD', 'languages-missing', { isEmpty: Array.isArray(codes) }, [start])
  else if (languages.some(code => code.toLowerCase().startsWith(RARE_LANGUAGE)))
    check.report('SHOULD', 'languages-copied', { languages, language: RARE_LANGUAGE }, [start])
  else return
  throw new CheckEndedError('language_codes')
}

/** What the platform made of the latest text of the user. */
function translationOf({ core: { journal } }: CheckContext, { id }: CheckChat): string {
  const entry = journal.query({ kind: 'user', chatId: id }).at(-1)
  return entry?.text_for_agent ?? entry?.text ?? ''
}

const SHORTEST_TIMEOUT_MS = 500
const LONGEST_TIMEOUT_MS = 60_000
const ENDINGS = ['typing_stop', 'message', 'end'] as const

async function typeAndIdle(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  await chat.agent('type')
  const call = await requireCall(check, chat, 'typing_start', 'the agent typed', 'SHOULD')
  const { body } = call.request
  const timeoutMs = isMap(body) && typeof body.timeout === 'number' ? body.timeout : null
  if (timeoutMs !== null && timeoutMs >= SHORTEST_TIMEOUT_MS && timeoutMs <= LONGEST_TIMEOUT_MS) return
  const withinMs = check.limits.typingMs
  const hasEnded = () => ENDINGS.some(endpoint => chat.calls(endpoint).some(({ seq }) => seq > call.seq))
  if (!(await check.until(hasEnded, withinMs)))
    check.report('SHOULD', 'typing-not-ended', { timeoutMs, withinMs }, [call])
}

/** No answer shows the availability, so an intermediary must send it also when the platform has it already. */
async function goAwayTwice(check: CheckContext): Promise<void> {
  await goAwayAndComeBack(check, 'CLOSED')
  await goAwayAndComeBack(check, 'OPEN')
  expectReasons(check)
}

type Availability = 'OPEN' | 'CLOSED'

async function goAwayAndComeBack(check: CheckContext, before: Availability): Promise<void> {
  let isAway = true
  try {
    await expectAvailability(check, 'away', 'CLOSED', before)
    isAway = false
    await expectAvailability(check, 'back', 'OPEN', 'CLOSED')
  } finally {
    // The checks after this one need agents.
    if (isAway) await agentsAre(check, 'back')
  }
}

async function expectAvailability(
  check: CheckContext,
  verb: 'away' | 'back',
  wanted: Availability,
  before: Availability,
): Promise<void> {
  const { journal } = check.core
  const seq = journal.nextSeq - 1
  await agentsAre(check, verb)
  const calls = () => journal.query({ kind: 'api', after: seq }).filter(({ endpoint }) => endpoint === 'availability')
  const right = () => calls().find(call => isAccepted(call) && fieldOf(call, 'availability') === wanted)
  await check.until(() => right() !== undefined, check.limits.effectMs)
  if (right() !== undefined) return
  const received = calls().map(one => ({ status: one.status, availability: fieldOf(one, 'availability') }))
  const details = { verb, wanted, before, received, withinMs: check.limits.effectMs }
  check.report('MUST', 'availability-missing', details, lastEntry(check))
  throw new CheckEndedError('availability')
}

const fieldOf = ({ request: { body } }: ChatCall, name: string): string | null => {
  const value = isMap(body) ? body[name] : undefined
  return typeof value === 'string' ? value : null
}

function expectReasons(check: CheckContext): void {
  const calls = check.core.journal.query({ kind: 'api' }).filter(({ endpoint }) => endpoint === 'availability')
  const without = calls.filter(call => isAccepted(call) && fieldOf(call, 'reason') === null)
  if (without.length > 0) check.report('SHOULD', 'reason-missing', { calls: without.length }, without)
}

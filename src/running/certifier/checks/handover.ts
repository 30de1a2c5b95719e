/** FLW: one handover from the request to the end. */

import { groupBy } from '../../../base/objects.ts'
import { counted, formatDuration } from '../../../base/text/quantities.ts'
import { breaksContract, refusalOf } from '../../../evaluation/evaluator/unclaimed-calls.ts'
import { findingRules } from '../../../evaluation/rules/accepted-with-finding.ts'
import { avatarAddress } from '../../../evaluation/rules/avatar-address.ts'
import { callAfterEnd, endRepeated, startAfterEnd } from '../../../evaluation/rules/call-after-end.ts'
import { placeholderText } from '../../../evaluation/rules/placeholder-text.ts'
import type { Rule } from '../../../evaluation/rules/rule.ts'
import { secretExposed } from '../../../evaluation/rules/secret-exposed.ts'
import { type CheckChat, expectAcknowledged, openChat, openTakenOver, refusedCalls } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError } from '../context.ts'
import { compareOrder, compareSamples, type Exchange, receivedTexts, type Sample, UNTRANSLATED } from '../exchange.ts'
import { inboxUntil, inboxWith, lastEntry, requestsIn } from '../observe.ts'
import { CONVERSATION_CHECK } from './conversation.ts'

/** Calls that the platform refused for what the caller could know, once for each mistake. */
const callRefused: Rule = {
  id: 'call-refused',
  level: 'MUST',
  *judgeAll({ calls }) {
    const refused = groupBy(calls.filter(breaksContract), call => {
      const { error, field } = refusalOf(call)
      return JSON.stringify([call.status, error, field])
    })
    for (const same of refused.values()) yield refusedCalls(same)
  },
}

/** Forms of the path that the platform accepts and does not describe first. */
const pathForm: Rule = {
  id: 'path-form',
  level: 'INFO',
  *judgeAll({ calls }) {
    const forms = [
      ['takeover', 'former name takeover', calls.filter(({ alias }) => alias === 'takeover')],
      ['slash', 'other form of the slash at the end', calls.filter(call => 'api.trailingSlash' in call.unspecified)],
    ] as const
    for (const [form, name, entries] of forms) {
      const [first] = entries
      if (first === undefined) continue
      const { path } = first
      yield {
        happened: `${counted(entries.length, 'call')} used the ${name}, such as ${path}. The documented form is api/v2/handover/, with a slash at the end only of message/.`,
        hint: 'Nothing must be changed: both forms are accepted. Build all paths from one base if the calls use several forms.',
        details: { form, path, calls: entries.length },
        entries,
      }
    }
  },
}

/** The other rules of the linter are about the order of calls, which other checks observe. */
const CALL_FINDINGS: readonly string[] = ['content-type', 'unknown-fields', 'empty-fields']

export const CALL_RULES: readonly Rule[] = [
  callRefused,
  ...findingRules.filter(({ id }) => CALL_FINDINGS.includes(id)),
  secretExposed,
  pathForm,
]

/** The user must see a person and not a bot. */
export const SENDER_RULES: readonly Rule[] = [
  ...findingRules.filter(({ id }) => id === 'sender-incomplete'),
  placeholderText,
  avatarAddress,
]

/** After an agent has left: nothing else that the user could see. */
export const END_RULES: readonly Rule[] = [startAfterEnd, callAfterEnd, endRepeated]

export const HANDOVER_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'FLW-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E4.2', 'ST6', 'WH2'],
    needs: ['accept'],
    title: 'A handover starts when an agent accepts',
    sends: 'REQUESTING TAKEOVER; then the agent accepts.',
    observes: 'The answer of the webhook, and the call of start.',
    passes: 'The answer is 200, and start comes within 5 s with the bot_id and chat_id of the event.',
    // The requests of other checks would keep an intermediary running that is stopped between requests.
    exclusive: true,
    begins: 'first',
    run: agentAccepts,
  },
  {
    id: 'FLW-02',
    level: 'MUST',
    profile: 'flow',
    rules: ['WH3', 'WH4', 'ST11'],
    needs: ['accept', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'The agent sees what the user writes',
    sends: 'Three MESSAGE FROM USER in a chat that is taken over.',
    observes: 'The answers of the webhook, and what the agent sees.',
    passes: 'Every answer is 200, and the agent sees each message once, unchanged, in order.',
    run: userWritesThreeMessages,
  },
  {
    id: 'FLW-03',
    level: 'MUST',
    profile: 'flow',
    rules: ['E6.2', 'E6.3', 'R-SENDER.3'],
    needs: ['accept', 'says'],
    knobs: UNTRANSLATED,
    title: 'The user gets what the agent writes',
    sends: 'The agent writes three messages.',
    observes: 'The calls of message.',
    passes:
      'Each text is in one call, unchanged, in order (MUST), and each call has a sender.name and a sender.avatar that a user can see (SHOULD).',
    run: agentWritesThreeMessages,
  },
  {
    id: 'FLW-04',
    level: 'MUST',
    profile: 'flow',
    rules: ['W2', 'E5.5', 'ST13'],
    needs: ['accept', 'leave'],
    title: 'The handover ends when the agent leaves',
    sends: 'The agent leaves.',
    observes: 'The calls about the chat.',
    passes: 'end comes (MUST) once, then no start (MUST) and nothing else that the user could see (SHOULD).',
    run: agentLeaves,
  },
  {
    id: 'FLW-05',
    level: 'MUST',
    profile: 'flow',
    rules: ['E0.2', 'E0.3', 'E0.4', 'A1', 'V2'],
    needs: ['accept'],
    // Calls without a usable chat_id belong to this check only when no other runs.
    exclusive: true,
    // With these values the platform says what is wrong with a call, and accepts what it may accept.
    knobs: {
      ...UNTRANSLATED,
      'errors.body': 'json',
      'errors.validation': '400',
      'api.contentType': 'accept',
      'api.unknownFields': 'accept',
      'api.nulls': 'accept',
      'api.emptyFields': 'accept',
      'api.trailingSlash': 'accept',
    },
    title: 'Every call is as the platform describes it',
    sends: 'A whole handover, with every verb that the agent driver has.',
    observes: 'Every call: path, headers, fields and their types; and the answers of the webhook.',
    passes:
      'Each call has a documented path (under handover or takeover), the bearer key, JSON, and fields of the right types (MUST); the key is in no text, address or answer, and there are no unknown fields (SHOULD). The form of the paths is reported.',
    run: checkWholeHandover,
  },
  {
    id: 'FLW-06',
    level: 'MUST',
    profile: 'flow',
    rules: ['ST4', 'ST6', 'ST16'],
    needs: ['accept', 'says', 'leave'],
    knobs: UNTRANSLATED,
    title: 'The same chat can be handed over again',
    sends: 'A whole handover; then the user asks for an agent again, in the same chat.',
    observes: 'What the agent sees, and the calls of start, message and end.',
    passes: 'The second handover works as the first.',
    run: handsOverTwice,
  },
  {
    id: 'FLW-07',
    level: 'MUST',
    profile: 'flow',
    rules: ['V4', 'PUB'],
    needs: ['accept', 'says', 'leave'],
    knobs: UNTRANSLATED,
    title: 'Answers may gain fields and change their order',
    sends:
      'A whole handover in which every answer of the API has a further field in each object, and one with the fields in the reverse order.',
    observes: 'The calls of start, message and end.',
    passes: 'Both handovers work as usual: each call comes once, and the user gets the text of the agent once.',
    run: readsOtherAnswers,
  },
  CONVERSATION_CHECK,
]

function numberedSamples(texts: readonly string[]): readonly Sample[] {
  return texts.map((text, index) => ({ name: `message ${index + 1}`, token: text, text }))
}

const FROM_USER: Exchange = {
  level: 'MUST',
  direction: 'to_agent',
  samples: numberedSamples(['Where is my parcel?', 'The number is 4711.', 'Is anybody there?']),
}
const FROM_AGENT: Exchange = {
  level: 'MUST',
  direction: 'to_user',
  samples: numberedSamples(['Hello, I am looking.', 'I found your parcel.', 'It arrives tomorrow.']),
}

/** Looks for the cause of a handover that does not start: an intermediary that runs only while it answers requests. */
async function agentAccepts(check: CheckContext): Promise<void> {
  const chat = await openChat(check, 'first')
  try {
    await chat.takeOver()
  } catch (error) {
    if (error instanceof CheckEndedError) await reportStandstill(check, chat)
    throw error
  }
}

/** So many requests let an intermediary that was stopped do what was left to do. */
const REQUESTS = 3
/** The time it has after each of them. */
const RESUMED_MS = 500

/**
 * Completes the last finding when what is missing does not come in further silence, and comes after further requests: then
 * the intermediary may be stopped between requests. One that is only slow comes in the silence.
 */
async function reportStandstill(check: CheckContext, chat: CheckChat): Promise<void> {
  const { findings } = check.reported
  const last = findings.at(-1)
  const isMissing = last?.code === 'call-missing'
  if (last === undefined || (!isMissing && last.code !== 'driver-failed')) return
  const { effectMs } = check.limits
  const hasCome = async (withinMs: number) =>
    isMissing
      ? check.until(() => chat.calls('start').length > 0, withinMs)
      : (await chat.tryAgent('accept')).outcome === 'ok'
  if (await hasCome(effectMs)) return
  const requests: number[] = []
  while (requests.length < REQUESTS) {
    // Has no effect, because no agent types.
    requests.push((await check.send({ event: 'AGENT TYPING STOP', chat })).seq)
    await check.pause(RESUMED_MS)
  }
  if (!(await hasCome(0))) return
  const came = isMissing ? 'It came' : 'The driver succeeded'
  findings[findings.length - 1] = {
    ...last,
    happened: `${last.happened} ${came} when further events reached the webhook, and not in the ${formatDuration(effectMs)} before them: the intermediary may stop after its answer, as on a function platform (serverless), which freezes a program between requests.`,
    hint: 'Do the work before the answer, give it to waitUntil, or put it into a queue that another function reads: docs/how-to/function-platforms.md.',
    details: { ...last.details, isStandstill: true },
    entrySeqs: [...last.entrySeqs, ...requests],
  }
}

async function userWritesThreeMessages(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  for (const { text } of FROM_USER.samples) expectAcknowledged(check, await chat.says(text))
  compareSamples(check, FROM_USER, await receivedTexts(check, chat, 'to_agent', FROM_USER.samples))
  await check.pause(check.limits.quietMs)
  compareOrder(check, FROM_USER, await receivedTexts(check, chat, 'to_agent'))
}

async function agentWritesThreeMessages(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  for (const { text } of FROM_AGENT.samples) await chat.agent('says', { text })
  compareSamples(check, FROM_AGENT, await receivedTexts(check, chat, 'to_user', FROM_AGENT.samples))
  await check.pause(check.limits.quietMs)
  compareOrder(check, FROM_AGENT, await receivedTexts(check, chat, 'to_user'))
  check.judge(SENDER_RULES, chat.entries())
}

async function agentLeaves(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  await chat.agent('leave')
  await chat.requireCall('end', 'the agent left')
  await check.pause(check.limits.quietMs)
  check.judge(END_RULES, chat.entries())
}

async function checkWholeHandover(check: CheckContext): Promise<void> {
  const { journal } = check.core
  const lastSeq = journal.nextSeq - 1
  try {
    await runWholeHandover(check, await openChat(check, 'first'))
  } finally {
    check.judge(CALL_RULES, journal.query({ after: lastSeq }))
  }
}

type AgentCall = 'message' | 'typing_start' | 'typing_stop' | 'end'

/** Uses every verb of the driver, and waits for the call of each: a handover without calls shows nothing about them. */
async function runWholeHandover(check: CheckContext, chat: CheckChat): Promise<void> {
  const missing: AgentCall[] = []
  const act = async (verb: string, endpoint: AgentCall, text?: string) => {
    if (!check.canDo(verb)) return
    await chat.agent(verb, text === undefined ? {} : { text })
    if ((await chat.nextCall(endpoint)) === null) missing.push(endpoint)
  }
  expectAcknowledged(check, await chat.press())
  await act('does.announce', 'message')
  const { how } = await chat.agent('accept')
  await chat.awaitCall('start', `the agent accepted (${how})`)
  await chat.says('Where is my parcel?')
  await act('type', 'typing_start')
  await act('stop', 'typing_stop')
  await act('says', 'message', 'It arrives tomorrow.')
  await act('leave', 'end')
  if (missing.length > 0) {
    const text = `The agent acted, and no call of ${missing.join(', ')} followed, so it was not checked. Look at the checks that expect these calls, and at the verbs of the agent driver.`
    check.inconclusive({ code: 'calls_missing', text })
  }
  await check.pause(check.limits.quietMs)
}

/** Lets an inbox that begins anew with each handover be shorter than the one before. */
const BETWEEN = 'A message of the first handover.'

async function handsOverTwice(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  expectAcknowledged(check, await chat.says(BETWEEN))
  const before = await inboxWith(check, chat, [BETWEEN])
  await chat.agent('leave')
  await chat.requireCall('end', 'the agent left')
  expectAcknowledged(check, await chat.press())
  // Only for a help desk that shows requests.
  if (requestsIn(before) > 0) {
    let isSeen = false
    await inboxUntil(check, chat, items => {
      isSeen = requestsIn(items) > (items.length < before.length ? 0 : requestsIn(before))
      return isSeen
    })
    if (!isSeen) reportUnseenRequest(check)
  }
  await chat.accept()
  const samples = FROM_AGENT.samples.slice(0, 1)
  for (const { text } of samples) await chat.agent('says', { text })
  compareSamples(check, { ...FROM_AGENT, samples }, await receivedTexts(check, chat, 'to_user', samples))
  await chat.agent('leave')
  await chat.requireCall('end', 'the agent left')
}

async function readsOtherAnswers(check: CheckContext): Promise<void> {
  const samples = FROM_AGENT.samples.slice(0, 1)
  for (const answers of ['extra', 'reordered'] as const) {
    await check.sim.configure({ 'api.answers': answers })
    const chat = await openTakenOver(check, answers)
    for (const { text } of samples) await chat.agent('says', { text })
    compareSamples(check, { ...FROM_AGENT, samples }, await receivedTexts(check, chat, 'to_user', samples))
    await chat.agent('leave')
    await chat.requireCall('end', 'the agent left')
    await check.pause(check.limits.quietMs)
    compareOrder(check, { ...FROM_AGENT, samples }, await receivedTexts(check, chat, 'to_user'))
    check.judge(END_RULES, chat.entries())
  }
}

function reportUnseenRequest(check: CheckContext): never {
  const withinMs = check.limits.effectMs
  check.report('MUST', 'second-request-unseen', {
    happened: `The agent does not see the second request of the same chat within ${formatDuration(withinMs)}; the first was visible.`,
    hint: 'Open a new conversation when the one of this chat id is closed: a user can ask for an agent again after a handover has ended, in the same chat.',
    details: { withinMs },
    entries: lastEntry(check),
  })
  throw new CheckEndedError('second request')
}

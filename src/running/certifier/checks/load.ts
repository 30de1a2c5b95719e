/** CON: many chats at once. */

import type { DriverCall } from '../../agent-driver/driver.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import type { FindingLevel } from '../findings/index.ts'
import type { LoadPart } from '../findings/load.ts'
import { type Crowd, type Member, openCrowd } from './crowd.ts'

export const LOAD_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'CON-01',
    level: 'MUST',
    profile: 'resilience',
    rules: ['E6', 'WH4'],
    needs: ['accept', 'says', 'inbox'],
    exclusive: true,
    // Its parts have limits. A help desk may need seconds for what an agent does.
    limitMs: 240_000,
    texts: {
      title: 'Many chats at once stay apart',
      sends: '20 handovers at once, and then 200, with a token in every text that no other text has.',
      observes: 'Answers to events, calls, and what each agent sees; the time of each.',
      passes:
        'No token is in another chat, and none is lost among 20 chats (MUST). Nothing is lost or late among 200 (SHOULD), unless the help desk is too slow to play them all.',
    },
    async run(check) {
      if (await playCrowd(check, 20)) await playCrowd(check, 200)
    },
  },
]

/** False: a part failed, which is reported. */
async function playCrowd(check: CheckContext, size: number): Promise<boolean> {
  const crowd = await openCrowd(check, size)
  try {
    await playHandovers(crowd)
    return true
  } catch (error) {
    if (error instanceof LoadEndedError) return false
    throw error
  } finally {
    crowd.measure()
    crowd.close()
  }
}

async function playHandovers(crowd: Crowd): Promise<void> {
  await usersPress(crowd)
  await agentsAct(crowd, 'accept', 'start')
  await usersWrite(crowd)
  await agentsWrite(crowd)
  await expectApart(crowd)
  if (crowd.check.driver?.verbs.includes('leave')) await agentsAct(crowd, 'leave', 'end')
}

/** Ends the round: a part failed, which is reported. */
class LoadEndedError extends Error {
  override readonly name = 'LoadEndedError'
}

/** Of all chats, for each part. */
const PART_MS = 10_000
/** How many calls the agent driver makes at once. */
const DRIVER_CALLS = 20
/** With more chats than this, being slow is no error. */
const FEW = 20

const levelOf = ({ members }: Crowd): FindingLevel => (members.length <= FEW ? 'MUST' : 'SHOULD')

async function usersPress(crowd: Crowd): Promise<void> {
  const { core } = crowd.check
  for (const { chat } of crowd.members) core.user.press(chat.id, 'handover')
  await expectAnswers(crowd, 1)
}

/** The events of one part are answered with 200, and not too late. */
async function expectAnswers(crowd: Crowd, count: number): Promise<void> {
  const { check, members } = crowd
  await crowd.untilAll(({ answers }) => answers.length >= count, PART_MS + check.limits.ackMs)
  const answers = members.map(member => member.answers[count - 1])
  const refused = answers.filter(answer => answer?.status !== 200)
  if (refused.length > 0) {
    const statuses = [...new Set(refused.map(answer => answer?.status ?? null))]
    const details = { chats: members.length, refused: refused.length, statuses }
    check.report('MUST', 'events-refused-under-load', details, refused.filter(isThere).slice(0, 5))
    throw new LoadEndedError()
  }
  reportSlow(crowd, answers.filter(isThere))
}

const isThere = (answer: EventAnswer | undefined): answer is EventAnswer => answer !== undefined

function reportSlow({ check, members }: Crowd, answers: readonly EventAnswer[]): void {
  const { ackMs } = check.limits
  const slow = answers.filter(({ duration_ms }) => duration_ms > ackMs)
  if (slow.length === 0) return
  const slowestMs = Math.round(Math.max(...slow.map(({ duration_ms }) => duration_ms)))
  const details = { chats: members.length, slow: slow.length, slowestMs, limitMs: ackMs }
  check.report('SHOULD', 'slow-answers-under-load', details, slow.slice(0, 5))
}

/** Every agent acts, and the call of every chat must follow. */
async function agentsAct(crowd: Crowd, verb: 'accept' | 'leave', endpoint: 'start' | 'end'): Promise<void> {
  await inTurns(crowd, crowd.members, async ({ chat }) => expectActed(crowd, verb, await chat.tryAgent(verb)))
  const isCalled = ({ calls }: Member) => calls.some(call => call.endpoint === endpoint && call.status === 200)
  await expectAll(crowd, endpoint, isCalled)
}

async function usersWrite(crowd: Crowd): Promise<void> {
  const { check, members } = crowd
  const sentMs = new Map<Member, number>()
  for (const member of members) {
    sentMs.set(member, check.core.journal.atMs)
    await check.core.user.says(member.chat.id, { text: member.tokens.user })
  }
  const [seen] = await Promise.all([readInboxes(crowd, sentMs), expectAnswers(crowd, 2)])
  await expectAll(crowd, 'to_agent', member => seen.has(member))
}

/** Reads every inbox until it shows the token of its user. Resolves with those that did in time. */
async function readInboxes(crowd: Crowd, sentMs: ReadonlyMap<Member, number>): Promise<ReadonlySet<Member>> {
  const { journal } = crowd.check.core
  const untilMs = journal.atMs + PART_MS
  const seen = new Set<Member>()
  while (seen.size < crowd.members.length && journal.atMs < untilMs && crowd.crossings.length === 0) {
    const open = crowd.members.filter(member => !seen.has(member))
    await inTurns(crowd, open, async member => {
      if (!(await showsToken(crowd, member))) return
      seen.add(member)
      crowd.times.to_agent.push(journal.atMs - (sentMs.get(member) ?? 0))
    })
  }
  return seen
}

async function showsToken(crowd: Crowd, member: Member): Promise<boolean> {
  const items = await member.chat.inbox()
  crowd.findCrossings(member, items, 'to_agent', crowd.check.core.journal.nextSeq - 1)
  return items.some(({ text }) => text?.includes(member.tokens.user))
}

async function agentsWrite(crowd: Crowd): Promise<void> {
  const { journal } = crowd.check.core
  const writtenMs = new Map<Member, number>()
  await inTurns(crowd, crowd.members, async member => {
    writtenMs.set(member, journal.atMs)
    expectActed(crowd, 'says', await member.chat.tryAgent('says', { text: member.tokens.agent }))
  })
  await expectAll(crowd, 'to_user', member => messageOf(member) !== undefined)
  for (const member of crowd.members) {
    const call = messageOf(member)
    if (call !== undefined) crowd.times.to_user.push(call.at_ms - (writtenMs.get(member) ?? 0))
  }
}

const messageOf = ({ calls, tokens }: Member) =>
  calls.find(({ status, request }) => status === 200 && JSON.stringify(request.body).includes(tokens.agent))

/** Reads every inbox once more, because a text may have come to another chat later. */
async function expectApart(crowd: Crowd): Promise<void> {
  await inTurns(crowd, crowd.members, async member => void (await showsToken(crowd, member)))
  reportCrossings(crowd)
}

/** Ends the round when a chat does not get there in time. */
async function expectAll(crowd: Crowd, part: LoadPart, isDone: (member: Member) => boolean): Promise<void> {
  const { check, members } = crowd
  await crowd.untilAll(isDone, PART_MS)
  reportCrossings(crowd)
  const missing = members.filter(member => !isDone(member))
  if (missing.length === 0) return
  const details = { chats: members.length, part, missing: missing.length, withinMs: PART_MS }
  check.report(levelOf(crowd), 'lost-under-load', details, [])
  throw new LoadEndedError()
}

function reportCrossings({ check, members, crossings }: Crowd): void {
  const [first] = crossings
  if (first === undefined) return
  const { direction, from, to } = first
  const details = { chats: members.length, direction, from, to, texts: crossings.length }
  check.report('MUST', 'text-in-other-chat', details, crossings.slice(0, 5))
  throw new LoadEndedError()
}

function expectActed(crowd: Crowd, verb: string, { outcome, failure }: DriverCall): void {
  if (outcome === 'ok') return
  const { check, members } = crowd
  check.report(
    levelOf(crowd),
    'driver-failed-under-load',
    { chats: members.length, verb, failure: failure ?? null },
    [],
  )
  throw new LoadEndedError()
}

/** Some at once. Begins no further work after a failure, and ends the round when the time for all chats is over. */
async function inTurns(
  crowd: Crowd,
  members: readonly Member[],
  work: (member: Member) => Promise<void>,
): Promise<void> {
  const waiting = [...members]
  const next = async () => {
    try {
      for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
        endInTime(crowd)
        await work(member)
      }
    } catch (error) {
      // At once, so that no other one reports the same.
      waiting.length = 0
      throw error
    }
  }
  await Promise.all(Array.from({ length: DRIVER_CALLS }, next))
}

/** A few chats are played whatever it takes, because they decide. */
function endInTime({ check, members, untilMs, crossings }: Crowd): void {
  const { journal } = check.core
  if (members.length <= FEW || crossings.length > 0 || journal.atMs < untilMs) return
  check.report('INFO', 'crowd-not-finished', { chats: members.length, withinMs: check.limits.crowdMs }, [])
  throw new LoadEndedError()
}

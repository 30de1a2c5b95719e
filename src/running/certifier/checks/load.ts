/** CON: many chats at once. */

import { makeId } from '../../../base/runtime/random.ts'
import { counted, formatDuration } from '../../../base/text/quantities.ts'
import type { Level } from '../../../evaluation/finding.ts'
import type { CallEntry, DeliveryEntry } from '../../../evaluation/history.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { driverFailureText, failureText } from '../../../platform/wording/failures.ts'
import { runConcurrently } from '../../runner/schedule.ts'
import { type CheckChat, openChat } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import { type CheckContext, CheckEndedError, type ReportedMistake } from '../context.ts'
import { suffix } from '../words.ts'

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
    title: 'Many chats at once stay apart',
    sends:
      '5, 10 and 20 typing events at once, each on a connection of its own; then 20 handovers at once, with a token in every text that no other text has. The same with 50, 100 and 200 events, and 200 handovers.',
    observes: 'Answers to events, calls, and what each agent sees; the time of each.',
    passes:
      'No token is in another chat, no event is refused; with 20 chats every event is answered and no token is lost (MUST). Nothing is lost, late or without an answer among 200 (SHOULD), unless the help desk is too slow for all of them.',
    async run(check) {
      if (!(await areAnswered(check, [5, 10, 20]))) return
      await runLoad(check, 20)
      if (await areAnswered(check, [50, 100, 200])) await runLoad(check, 200)
    },
  },
]

const BACKLOG =
  'The usual cause is a short listen backlog, the queue of connections that the server has not accepted yet: what comes when it is full is dropped. Some servers have 5: set 128 or more, where yours begins to listen. Look also for a server that handles one request after the other, and for a limit of connections.'

const ANSWERED = 'events_at_once_answered'

/** Sends so many events at once, until some have no answer, which is reported. */
async function areAnswered(check: CheckContext, sizes: readonly number[]): Promise<boolean> {
  const { sim, limits, reported } = check
  if (!check.hasWire) return true
  const timeout = sim.config()['webhook.timeout']
  await sim.configure({ 'webhook.timeout': formatDuration(limits.ackMs) })
  const chat = await openChat(check, `${sizes[0]} connections`)
  for (const size of sizes) {
    // A connection that stays open would count for the next burst, and for what comes after them.
    const alteration = { headers: (signed: Readonly<Record<string, string>>) => ({ ...signed, connection: 'close' }) }
    const sent = Array.from({ length: size }, () => check.send({ event: 'AGENT TYPING STOP', chat, alteration }))
    const answers = await Promise.all(sent)
    const missing = answers.filter(({ status }) => status === null)
    if (missing.length > 0) {
      const { failure } = missing[0]!
      const { [ANSWERED]: answered = 0 } = reported.measurements
      const before = answered === 0 ? '' : ` ${answered} at once were all answered.`
      check.report(levelOf(size), 'answers-missing-at-once', {
        happened: `Of ${size} events sent at once, each on a connection of its own, ${missing.length} had no answer${suffix(failure && failureText(failure))}.${before}`,
        hint: BACKLOG,
        details: {
          connections: size,
          missing: missing.length,
          answered,
          status: missing.length === size ? null : 'mixed',
        },
        entries: missing.slice(0, 5),
      })
      return false
    }
    check.measure(ANSWERED, size)
  }
  await sim.configure({ 'webhook.timeout': timeout as ReturnType<typeof formatDuration> })
  return true
}

/** A part that fails is reported, and ends the check. */
async function runLoad(check: CheckContext, size: number): Promise<void> {
  const chats: LoadedChat[] = []
  for (let number = 1; number <= size; number++) {
    const name = `${size} at once, ${number}`
    chats.push({
      chat: await openChat(check, name),
      userToken: `token-${makeId('hex24', check.seed, `user ${name}`)}`,
      agentToken: `token-${makeId('hex24', check.seed, `agent ${name}`)}`,
      answers: [],
      called: new Set(),
      message: null,
    })
  }
  const group = new LoadGroup(check, chats)
  try {
    await group.run()
  } finally {
    group.close()
  }
}

/** One chat of a load group, with a text for each side that no other chat has. */
interface LoadedChat {
  readonly chat: CheckChat
  readonly userToken: string
  readonly agentToken: string
  /** To the user's request and message; those to typing events and to duplicates are the subject of other checks. */
  readonly answers: DeliveryEntry[]
  /** The endpoints of its calls that were answered with 200. */
  readonly called: Set<CallEntry['endpoint']>
  /** The call that shows the user what the agent wrote. */
  message: CallEntry | null
}

type Direction = 'to_agent' | 'to_user'

/** A text that came to another chat. */
interface Leak {
  readonly direction: Direction
  /** Names of chats. */
  readonly from: string
  readonly to: string
  readonly seq: number
}

/** What every chat must reach: a call, or a text on its other side. */
const PARTS = {
  start: 'the call start after the agent had accepted',
  end: 'the call end after the agent had left',
  to_agent: "the user's message in what the agent sees",
  to_user: "the agent's message as a call of the platform",
}

/** Of all chats, for each part. */
const PART_MS = 10_000
/** How many calls the agent driver makes at once. */
const DRIVER_CALLS = 20
/** With more chats or connections than this, a busy machine may be the cause of what is slow or missing. */
const FEW = 20
const levelOf = (size: number): Level => (size <= FEW ? 'MUST' : 'SHOULD')

/** Runs handovers in many chats at once, and follows their traffic by reading each journal entry once. */
class LoadGroup {
  readonly #check: CheckContext
  readonly #chats: readonly LoadedChat[]
  readonly #byId = new Map<string, LoadedChat>()
  readonly #byToken = new Map<string, LoadedChat>()
  readonly #leaks: Leak[] = []
  /** When the round ends, on the clock of the journal. */
  readonly #untilMs: number
  /** Of losses. */
  readonly #level: Level
  /** Milliseconds of each acknowledgement, and from one side to the other. */
  readonly #times: Readonly<Record<'ack' | Direction, number[]>> = { ack: [], to_agent: [], to_user: [] }
  readonly #unsubscribe: () => void

  constructor(check: CheckContext, chats: readonly LoadedChat[]) {
    this.#check = check
    this.#chats = chats
    for (const member of chats) {
      this.#byId.set(member.chat.id, member)
      this.#byToken.set(member.userToken, member).set(member.agentToken, member)
    }
    this.#level = levelOf(chats.length)
    this.#untilMs = check.core.journal.atMs + check.limits.loadMs
    this.#unsubscribe = check.core.journal.subscribe(entry => this.#follow(entry))
  }

  #follow(entry: Entry): void {
    const member = this.#byId.get(entry.chat_id ?? '')
    if (member === undefined) return
    if (entry.kind === 'api') {
      const body = JSON.stringify(entry.request.body ?? null)
      if (entry.status === 200) {
        member.called.add(entry.endpoint)
        if (body.includes(member.agentToken)) member.message ??= entry
      }
      this.#findLeaks(member, body, 'to_user', entry.seq)
    }
    if (entry.kind !== 'delivery' || entry.duplicate === true) return
    if (entry.event !== 'REQUESTING TAKEOVER' && entry.event !== 'MESSAGE FROM USER') return
    member.answers.push(entry)
    if (entry.status === 200) this.#times.ack.push(entry.duration_ms)
  }

  /** Finds tokens of other chats in what belongs to this one. */
  #findLeaks(to: LoadedChat, text: string, direction: Direction, seq: number): void {
    for (const token of text.match(/token-[0-9a-f]{24}/g) ?? []) {
      const from = this.#byToken.get(token)
      if (from !== undefined && from !== to)
        this.#leaks.push({ direction, from: from.chat.name, to: to.chat.name, seq })
    }
  }

  async run(): Promise<void> {
    const { user } = this.#check.core
    for (const { chat } of this.#chats) user.press(chat.id, 'handover')
    await this.#expectAnswers(1)
    await this.#inTurns(this.#chats, member => this.#act(member, 'accept'))
    await this.#expectAll('start', ({ called }) => called.has('start'))
    await this.#usersWrite()
    await this.#agentsWrite()
    // Once more, because a text may have come to another chat later.
    await this.#inTurns(this.#chats, member => this.#showsToken(member))
    this.#reportLeaks()
    if (!this.#check.canDo('leave')) return
    await this.#inTurns(this.#chats, member => this.#act(member, 'leave'))
    await this.#expectAll('end', ({ called }) => called.has('end'))
  }

  /** Records percentiles of the times, by nearest rank. */
  close(): void {
    this.#unsubscribe()
    for (const [name, values] of Object.entries(this.#times)) {
      values.sort((a, b) => a - b)
      for (const percent of [50, 95, 99]) {
        const value = values[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)]
        if (value !== undefined)
          this.#check.measure(`${name}_${this.#chats.length}_chats_p${percent}_ms`, Math.round(value))
      }
    }
  }

  /** Reports with the number of chats. */
  #report(level: Level, code: string, { happened, details, ...finding }: ReportedMistake): void {
    const chats = this.#chats.length
    const sentence = `With ${chats} chats at once, ${happened}`
    this.#check.report(level, code, { ...finding, happened: sentence, details: { chats, ...details } })
  }

  /** The events of one part are answered with 200, and not too late. */
  async #expectAnswers(count: number): Promise<void> {
    const { ackMs } = this.#check.limits
    await this.#untilAll(({ answers }) => answers.length >= count, PART_MS + ackMs)
    const refused: DeliveryEntry[] = []
    const unanswered: DeliveryEntry[] = []
    const slow: DeliveryEntry[] = []
    let unansweredCount = 0
    for (const { answers } of this.#chats) {
      const answer = answers[count - 1]
      if (answer === undefined || answer.status === null) {
        unansweredCount++
        if (answer !== undefined) unanswered.push(answer)
      } else if (answer.status !== 200) refused.push(answer)
      else if (answer.duration_ms > ackMs) slow.push(answer)
    }
    const failedCount = unansweredCount + refused.length
    if (failedCount > 0) {
      const statuses = new Set(refused.map(({ status }) => status))
      const parts: string[] = []
      const failure = unanswered[0]?.failure
      if (unansweredCount > 0)
        parts.push(`${counted(unansweredCount, 'event')} had no answer${suffix(failure && failureText(failure))}`)
      if (refused.length > 0)
        parts.push(`${counted(refused.length, 'event')} had another answer than 200: ${[...statuses].join(', ')}`)
      // A status for all of them may have a cause without load.
      const isOne = failedCount === this.#chats.length && statuses.size + Math.min(1, unansweredCount) === 1
      this.#report(refused.length > 0 ? 'MUST' : this.#level, 'events-refused-under-load', {
        happened: `${parts.join(', and ')}.`,
        hint:
          refused.length === 0
            ? BACKLOG
            : 'Look for a limit of requests or connections in the web server, and for a database lock that a request waits for.',
        details: {
          refused: refused.length,
          unanswered: unansweredCount,
          statuses: [...statuses],
          status: isOne ? (refused[0]?.status ?? null) : 'mixed',
        },
        entries: [...unanswered, ...refused].slice(0, 5),
      })
      throw new CheckEndedError('load')
    }
    if (slow.length === 0) return
    let slowestMs = 0
    for (const { duration_ms } of slow) slowestMs = Math.max(slowestMs, Math.round(duration_ms))
    this.#report('SHOULD', 'slow-answers-under-load', {
      happened: `${counted(slow.length, 'acknowledgement')} took longer than ${formatDuration(ackMs)} (--ack-limit); the slowest took ${slowestMs} ms.`,
      hint: 'Answer as soon as the event is stored, and do all other work later.',
      details: { slow: slow.length, slowestMs, limitMs: ackMs },
      entries: slow.slice(0, 5),
    })
  }

  async #act({ chat }: LoadedChat, verb: string, text?: string): Promise<void> {
    const { outcome, failure = null } = await chat.tryAgent(verb, text === undefined ? {} : { text })
    if (outcome === 'ok') return
    this.#report(this.#level, 'driver-failed-under-load', {
      happened: `the agent driver failed at ${verb}${suffix(failure && driverFailureText(failure))}.`,
      hint: 'Try the call of the driver by hand while many chats are open. If the help desk limits calls, the driver must wait and repeat them.',
      details: { verb, failure },
    })
    throw new CheckEndedError('load')
  }

  async #usersWrite(): Promise<void> {
    const { user, journal } = this.#check.core
    const sentMs = new Map<LoadedChat, number>()
    for (const member of this.#chats) {
      await this.#check.pace(member.chat.id)
      sentMs.set(member, journal.atMs)
      await user.says(member.chat.id, { text: member.userToken })
    }
    const unseen = new Set(this.#chats)
    // Reads every inbox until it shows the token of its user.
    const readInboxes = async () => {
      const untilMs = journal.atMs + PART_MS
      while (unseen.size > 0 && journal.atMs < untilMs && this.#leaks.length === 0)
        await this.#inTurns([...unseen], async member => {
          if (!(await this.#showsToken(member))) return
          unseen.delete(member)
          this.#times.to_agent.push(journal.atMs - (sentMs.get(member) ?? 0))
        })
    }
    await Promise.all([readInboxes(), this.#expectAnswers(2)])
    await this.#expectAll('to_agent', member => !unseen.has(member))
  }

  /** Whether the agent sees what the user wrote. */
  async #showsToken(member: LoadedChat): Promise<boolean> {
    const items = await member.chat.inbox()
    this.#findLeaks(member, JSON.stringify(items), 'to_agent', this.#check.core.journal.nextSeq - 1)
    return items.some(({ text }) => text?.includes(member.userToken))
  }

  async #agentsWrite(): Promise<void> {
    const { journal } = this.#check.core
    const writtenMs = new Map<LoadedChat, number>()
    await this.#inTurns(this.#chats, async member => {
      writtenMs.set(member, journal.atMs)
      await this.#act(member, 'says', member.agentToken)
    })
    await this.#expectAll('to_user', ({ message }) => message !== null)
    for (const member of this.#chats) this.#times.to_user.push(member.message!.at_ms - (writtenMs.get(member) ?? 0))
  }

  /** Waits until the condition is met for every chat. Ends early when a text has leaked. Resolves with the chats that do not meet it. */
  async #untilAll(condition: (member: LoadedChat) => boolean, withinMs: number): Promise<readonly LoadedChat[]> {
    let open = this.#chats
    const isOver = () => {
      open = open.filter(member => !condition(member))
      return open.length === 0 || this.#leaks.length > 0
    }
    await this.#check.until(isOver, withinMs)
    return open
  }

  /** Ends the round when a chat does not get there in time. */
  async #expectAll(part: keyof typeof PARTS, isDone: (member: LoadedChat) => boolean): Promise<void> {
    const missing = (await this.#untilAll(isDone, PART_MS)).length
    this.#reportLeaks()
    if (missing === 0) return
    this.#report(this.#level, 'lost-under-load', {
      happened: `${PARTS[part]} was missing in ${missing} of them after ${formatDuration(PART_MS)}.`,
      hint: 'Look for a queue that all chats share, a pool of connections that is too small, and work that is given up when it waits for long.',
      details: { part, missing, isEvery: missing === this.#chats.length, withinMs: PART_MS },
    })
    throw new CheckEndedError('load')
  }

  #reportLeaks(): void {
    const [first] = this.#leaks
    if (first === undefined) return
    const { direction, from, to } = first
    const [writer, reader] = direction === 'to_user' ? ['agent', 'user'] : ['user', 'agent']
    this.#report('MUST', 'text-in-other-chat', {
      happened: `${counted(this.#leaks.length, 'text')} came to another chat. The first: what the ${writer} of the chat "${from}" wrote was sent to the ${reader} of "${to}".`,
      hint: 'Look for state that all chats share, such as a variable for the current chat. Take chat_id from the event or from the action, and pass it on to the call.',
      details: { direction, from, to, texts: this.#leaks.length },
      entries: this.#leaks.slice(0, 5),
    })
    throw new CheckEndedError('load')
  }

  /** Works on some chats at once. Ends the round when the time for all chats is over. */
  async #inTurns(chats: readonly LoadedChat[], work: (member: LoadedChat) => Promise<unknown>): Promise<void> {
    let hasFailed = false
    await runConcurrently(chats, { jobs: DRIVER_CALLS }, async member => {
      // Begins nothing after a failure, so that the same is reported once.
      if (hasFailed) return
      try {
        this.#endInTime()
        await work(member)
      } catch (error) {
        hasFailed = true
        throw error
      }
    })
  }

  /** A few chats run however long they take, because they decide. */
  #endInTime(): void {
    const { journal } = this.#check.core
    if (this.#chats.length <= FEW || this.#leaks.length > 0 || journal.atMs < this.#untilMs) return
    const withinMs = this.#check.limits.loadMs
    this.#report('INFO', 'load-not-finished', {
      happened: `the conversations did not end within ${formatDuration(withinMs)}, because the agent driver needs too long for each action, so only a part of them was observed. No text was lost or in another chat until then.`,
      hint: 'Look at the driver calls of this check, and how long each takes. With a help desk, or one for tests, that performs the actions of 20 agents at once in less than a second, the check observes all conversations.',
      details: { withinMs },
    })
    throw new CheckEndedError('load')
  }
}

/** Journals of plays, written by hand: what the player would note, and what happened in between. */

import { evaluate } from '../../src/evaluation/evaluator/evaluator.ts'
import type { RunResult, ScenarioResult, Verdict } from '../../src/evaluation/evaluator/verdict.ts'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { loadValues } from '../../src/evaluation/scenario/load/load.ts'
import { type Plan, stepsOf } from '../../src/evaluation/scenario/plan.ts'
import type { InboxItem, TranscriptRow } from '../../src/evaluation/scenario/run-events.ts'
import type { ApiContent, DeliveryFailure, Entry, EntryContent } from '../../src/platform/journal/entry.ts'
import { result, scenarioResult } from '../reporters/run-results.ts'

/** A scenario as one would write it; name and version are added. */
export async function planOf(scenario: object): Promise<Plan> {
  const written = { version: 1, name: 'Under test', ...scenario }
  const [plan] = compile(await loadValues([written], { cwd: '/', nodeVersion: process.version }))
  return plan!
}

export interface CallMore {
  readonly conversation?: string
  readonly chatId?: string
  readonly botId?: unknown
  readonly status?: number
  readonly response?: unknown
  readonly auth?: string
  readonly alias?: string | null
  readonly path?: string
  readonly method?: string
  readonly faults?: readonly string[]
  readonly answer_lost?: string
  readonly unspecified?: ApiContent['unspecified']
  /** How long it took to answer; it was read that much earlier. */
  readonly took?: number
}

export interface Delivered {
  readonly status?: number | null
  readonly body?: string
  readonly failure?: DeliveryFailure
  readonly took?: number
  readonly attempt?: number
  readonly retry_in_ms?: number
  readonly resent?: true
  readonly duplicate?: true
  readonly outcome?: 'delivered' | 'failed' | 'skipped'
  readonly event?: string
  readonly sign?: string
}

/** Every entry takes `pace` milliseconds unless `pass` says more. */
export function journalOf(plan: Plan, pace = 10) {
  const entries: Entry[] = []
  let now = 0
  let deliveries = 0
  const chatIdOf = (conversation: string) => `c-${conversation}`
  const main = plan.conversations[0]?.name ?? 'main'
  const steps = [...stepsOf([...plan.steps, ...plan.finally])]
  const conversationOfStep = (number: number) => steps.find(step => step.number === number)!.conversation

  function add(content: object, cause: number | null = null): number {
    now += pace
    const seq = entries.length + 1
    entries.push({ ...(content as EntryContent), v: 1, seq, time: TIME, cause, at_ms: now } as Entry)
    return seq
  }
  const note = (name: string, more: object = {}) => add({ kind: 'note', note: name, ...more })

  const journal = {
    entries,
    add,
    note,
    get now() {
      return now
    },
    pass(ms: number) {
      now += ms
    },
    begin(number: number): number {
      const { action, label, conversation } = steps.find(step => step.number === number)!
      return note('step_started', { step: number, verb: action.verb, label, chat_id: chatIdOf(conversation) })
    },
    end: (number: number, details: object = {}) =>
      note('step_ended', { step: number, chat_id: chatIdOf(conversationOfStep(number)), ...details }),
    /** A step from its start to its end, with what happens in it. */
    step(number: number, during: () => void = () => {}, details: object = {}) {
      journal.begin(number)
      during()
      journal.end(number, details)
    },
    /** A step with an event of the user, and its answers; none: no event was due. */
    stimulus(number: number, event: string | null = 'REQUESTING TAKEOVER', answers: readonly Delivered[] = [{}]) {
      const cause = journal.begin(number)
      const conversation = conversationOfStep(number)
      const { action } = steps.find(step => step.number === number)!
      const said = action.verb === 'user' ? { action: 'message', text: action.text } : { action: 'press' }
      add({ kind: 'user', chat_id: chatIdOf(conversation), message_id: 'm', ...said }, cause)
      if (event === null) return void journal.end(number, { delivery_id: null })
      const delivery_id = journal.event(event, conversation)
      for (const answer of answers) journal.delivery(delivery_id, { event, ...answer }, conversation)
      journal.end(number, { delivery_id })
      return undefined
    },
    event(event: string, conversation = main): string {
      const delivery_id = `d${++deliveries}`
      const chat_id = chatIdOf(conversation)
      const chat = { _links: { self: `/api/v1/chats/${chat_id}` }, id: chat_id, language: 'en', source: 'web' }
      const message = event === 'MESSAGE FROM USER' ? { message: '' } : {}
      add({
        kind: 'event',
        chat_id,
        event,
        delivery_id,
        payload: { event, bot: BOT, chat, user: { id: 'u' }, ...message },
      })
      return delivery_id
    },
    delivery(
      delivery_id: string,
      { status = 200, body = 'ok', took = 5, ...more }: Delivered = {},
      conversation = main,
    ) {
      const response = status === null ? null : { headers: {}, body, truncated: false }
      return add({
        kind: 'delivery',
        chat_id: chatIdOf(conversation),
        delivery_id,
        event: 'REQUESTING TAKEOVER',
        attempt: 1,
        outcome: status === 200 ? 'delivered' : 'failed',
        url: 'http://127.0.0.1:3000/webhook',
        request: { headers: {}, body: '{}' },
        status,
        response,
        duration_ms: took,
        ...more,
      })
    },
    call(endpoint: string | null, body: object = {}, more: CallMore = {}): number {
      const { conversation = main, chatId = chatIdOf(conversation), botId = BOT.id, took = 0, ...rest } = more
      const about = endpoint === 'availability' ? {} : { chat_id: chatId }
      const ids = endpoint === 'availability' ? {} : { bot_id: botId, chat_id: chatId }
      return add({
        kind: 'api',
        ...about,
        endpoint,
        method: endpoint === 'chat' ? 'GET' : 'POST',
        path: `/api/v2/handover/${endpoint}`,
        alias: 'handover',
        auth: 'valid',
        request: { headers: {}, body: { ...ids, ...body }, bytes: 1 },
        status: 200,
        response: { event: 'OK', chatmessage_id: `m${entries.length}` },
        findings: [],
        unspecified: {},
        duration_ms: took,
        follows: null,
        ...rest,
      })
    },
    driver(verb: string, more: object = {}, cause: number | null = null) {
      const called = { kind: 'driver', verb, chat_id: chatIdOf(main), how: 'POST http://desk/x' }
      return add({ ...called, outcome: 'ok', duration_ms: 0, ...more }, cause)
    },
    inbox(list: readonly (InboxItem | string)[], cause: number | null = null) {
      const items = list.map(item => (typeof item === 'string' ? { text: item } : item))
      return journal.driver('inbox', { items }, cause)
    },
    observe(
      step: number,
      seen: Partial<{ status: string; typing: boolean; availability: string; transcript: TranscriptRow[] }>,
    ) {
      const state = { status: 'bot', typing: false, availability: 'OPEN', ...seen }
      return note('observed', { step, chat_id: chatIdOf(conversationOfStep(step)), ...state })
    },
    /** The end; what is written after it came too late. */
    finish(details: object = {}): readonly Entry[] {
      if (entries.some(entry => entry.kind === 'note' && entry.note === 'scenario_ended')) return entries
      note('steps_done')
      note('scenario_ended', details)
      return entries
    },
  }

  note('scenario_started', { ...STARTED, scenario: plan.name, file: plan.file })
  for (const { name } of plan.conversations) {
    const chat = { id: chatIdOf(name), user_id: `u-${name}`, language: 'en', source: 'web', name: 'Ada' }
    note('conversation', { chat_id: chatIdOf(name), conversation: name, chat })
  }
  return journal
}

/** The verdict on a whole play. */
export async function checked(scenario: object, write: (journal: JournalBuilder) => void): Promise<Verdict> {
  const plan = await planOf(scenario)
  const journal = journalOf(plan)
  write(journal)
  return evaluate(plan, journal.finish())
}

export type JournalBuilder = ReturnType<typeof journalOf>

const TIME = '2024-01-01T09:00:00.000000Z'
const BOT = { id: 1042, name: 'Nora' }
const STARTED = {
  instance: 1,
  seed: 1,
  clock: 'real',
  bot: BOT,
  config: { 'messages.closed': 'We are closed.', 'webhook.timeout': '10s' },
  env: {},
  sim: { url: 'http://127.0.0.1:4747', api_key: '***', bot_id: BOT.id },
  driver: ['accept', 'says', 'type', 'stop', 'leave', 'away', 'back', 'inbox'],
}

export interface PlayedByHand {
  readonly plan: Plan
  readonly entries: readonly Entry[]
}

/** The result of a run of scenarios. */
export function ranOf(scenarios: readonly PlayedByHand[]): RunResult {
  const results = scenarios.map(({ plan, entries }): ScenarioResult => {
    const { name, file, place, tags, spec } = plan
    const conversations = Object.fromEntries(plan.conversations.map(one => [one.name, `c-${one.name}`]))
    const about = { name, file, place, tags, spec, conversations, journal: entries }
    return {
      ...scenarioResult({ rerunCommand: 'npx handover-sim run' }),
      ...about,
      ...evaluate(plan, entries),
    }
  })
  const outcomes = results.map(({ outcome }) => scenarioResult({ outcome }))
  return { ...result(outcomes, { startedAt: TIME }), failures: [], scenarios: results }
}

/** Builds journals of runs by hand: the notes of the runner and the entries between. */

import type { Plan, PlannedItem } from '../../src/evaluation/scenario/plan.ts'
import type { ApiContent, DeliveryContent, Entry, EntryContent } from '../../src/platform/journal/entry.ts'

export interface Written {
  readonly entries: readonly Entry[]
  /** Returns the seq. `atMs` is when it ended. */
  add(content: Record<string, unknown> & { kind: Entry['kind'] }, more?: { atMs?: number; cause?: number }): number
  conversation(chatId: string, conversation: string): number
  call(
    endpoint: ApiContent['endpoint'],
    chatId: string,
    more?: Partial<ApiContent> & { atMs?: number; body?: object },
  ): number
  event(event: string, chatId: string, atMs?: number): number
  delivery(cause: number, event: string, chatId: string, more?: Partial<DeliveryContent> & { atMs?: number }): number
  user(chatId: string, text: string): number
  driver(verb: string, chatId: string, more?: Record<string, unknown>): number
}

export function writeJournal(): Written {
  const entries: Entry[] = []
  const add: Written['add'] = (content, { atMs, cause = null } = {} as never) => {
    const seq = entries.length + 1
    const frame = { v: 1, seq, time: '2024-01-01T09:00:00.000000Z', cause, at_ms: atMs ?? seq } as const
    entries.push({ ...(content as unknown as EntryContent), ...frame } as Entry)
    return seq
  }
  return {
    entries,
    add,
    conversation: (chat_id, conversation) => add({ kind: 'note', note: 'conversation', chat_id, conversation }),
    call(endpoint, chat_id, { atMs, body = {}, ...more } = {}) {
      const content = { ...PLAIN_CALL, endpoint, chat_id, path: `/api/v2/handover/${endpoint}`, ...more }
      const request = { headers: {}, bytes: 0, body: { bot_id: 1042, chat_id, ...body } }
      return add({ request, ...content }, atMs === undefined ? {} : { atMs })
    },
    event: (event, chat_id, atMs) => add({ kind: 'event', event, chat_id }, atMs === undefined ? {} : { atMs }),
    delivery(cause, event, chat_id, { atMs, ...more } = {}) {
      const content = { ...PLAIN_DELIVERY, event, chat_id, ...more }
      return add(content, { cause, ...(atMs === undefined ? {} : { atMs }) })
    },
    user: (chat_id, text) => add({ kind: 'user', action: 'message', chat_id, text, message_id: 'm' }),
    driver: (verb, chat_id, more = {}) =>
      add({ kind: 'driver', verb, chat_id, outcome: 'ok', how: 'function', duration_ms: 1, ...more }),
  }
}

const PLAIN_CALL = {
  kind: 'api',
  method: 'POST',
  alias: 'handover',
  auth: 'valid',
  status: 200,
  response: {},
  findings: [],
  unspecified: {},
  duration_ms: 1,
  follows: null,
} as const

const PLAIN_DELIVERY = {
  kind: 'delivery',
  delivery_id: 'd',
  attempt: 1,
  outcome: 'delivered',
  url: 'http://127.0.0.1:3000/webhook',
  request: { headers: {}, body: '{}' },
  status: 200,
  response: { headers: {}, body: '', truncated: false },
  duration_ms: 1,
} as const

export function planOf(steps: readonly PlannedItem[] = [], more: Partial<Plan> = {}): Plan {
  return {
    name: 'Hand-written',
    title: 'Hand-written',
    description: null,
    file: 'hand.yaml',
    place: null,
    tags: [],
    spec: [],
    seed: null,
    clock: null,
    timeouts: { ackMs: 10_000, expectMs: 5000, settleMs: 300, scenarioMs: 60_000 },
    strict: { unexpected: 'fail', contract: 'fail', allow: [] },
    config: {},
    bot: {},
    availability: null,
    businessHours: null,
    tokens: true,
    conversations: [],
    vars: {},
    matrix: {},
    never: [],
    steps,
    finally: [],
    count: steps.length,
    exclusive: null,
    needs: [],
    env: [],
    mentionsAvailability: false,
    ...more,
  }
}

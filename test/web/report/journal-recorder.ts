/** Builds a journal entry by entry, as the simulator and the runner write it. */
import type { DeliveryFailure, Entry, FaultEffect } from '../../../src/platform/journal/entry.ts'

const TARGET = 'http://127.0.0.1:3000/webhook'
const SENDER = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const EVENTS = { start: 'TAKEOVER STARTED', message: 'MESSAGE SENT TO USER', end: 'TAKEOVER ENDED' } as const

export interface Answer {
  readonly status?: number | null
  readonly body?: string
  readonly ms?: number
  readonly failure?: DeliveryFailure
  readonly faults?: readonly string[]
}

/** `seq` starts at `first`; times are milliseconds since the start of the run. */
export function createTape(first = 1) {
  const entries: Entry[] = []
  let now = 0
  let deliveries = 0

  function add(content: Record<string, unknown>): number {
    const seq = first + entries.length
    const time = new Date(Date.UTC(2024, 0, 1, 9, 0, 0) + now).toISOString()
    entries.push({ v: 1, seq, time, cause: null, at_ms: 5000 + now, ...content } as unknown as Entry)
    return seq
  }

  function event(name: string, chat_id: string, more: object = {}, answer: Answer = {}): number {
    const delivery_id = `d-${first}-${++deliveries}`
    const payload = {
      event: name,
      bot: { id: 1042, name: 'Nora' },
      chat: {
        _links: { self: `http://127.0.0.1:4747/api/v1/chats/${chat_id}` },
        id: chat_id,
        language: 'en',
        source: 'web',
      },
      user: { id: '9752a3c4477ef0acbc9bf02e' },
      ...more,
    }
    const seq = add({ kind: 'event', chat_id, event: name, delivery_id, payload })
    deliver(name, chat_id, delivery_id, JSON.stringify(payload), seq, answer)
    return seq
  }

  function deliver(name: string, chat_id: string, delivery_id: string, body: string, cause: number, answer: Answer) {
    const { status = 200, ms = 31, failure, faults } = answer
    now += ms
    const headers = { 'content-type': 'application/json', 'Kindly-HMAC': '***' }
    const response = { headers: { 'content-type': 'text/plain' }, body: answer.body ?? 'ok', truncated: false }
    add({
      kind: 'delivery',
      chat_id,
      delivery_id,
      event: name,
      attempt: 1,
      outcome: status === 200 ? 'delivered' : 'failed',
      url: TARGET,
      request: { headers, body },
      status,
      response: status === null ? null : response,
      duration_ms: ms,
      cause,
      ...(failure === undefined ? {} : { failure }),
      ...(faults === undefined ? {} : { faults }),
    })
  }

  function call(endpoint: string, chat_id: string, body: object = {}, more: object = {}): number {
    const answered = EVENTS[endpoint as keyof typeof EVENTS]
    const response =
      answered === undefined ? {} : { event: answered, chat_id, chatmessage_id: '65f2c0a9b1d34e5f60718293' }
    return add({
      kind: 'api',
      chat_id,
      endpoint,
      method: 'POST',
      path: `/api/v2/handover/${endpoint}${endpoint === 'message' ? '/' : ''}`,
      alias: 'handover',
      auth: 'valid',
      request: {
        headers: { authorization: 'Bearer ***', 'content-type': 'application/json', 'user-agent': 'desk-bridge/2.1' },
        body: { bot_id: 1042, chat_id, ...body },
        bytes: 120,
      },
      status: 200,
      response,
      findings: [],
      unspecified: {},
      duration_ms: 1.4,
      follows: null,
      ...more,
    })
  }

  return {
    entries,
    add,
    event,
    call,
    sender: SENDER,
    at(ms: number): void {
      now = ms
    },
    begin: (step: number, label: string) =>
      add({ kind: 'note', note: 'step_started', step, verb: label.split(' ')[0], label }),
    done: (step: number, more: object = {}) => add({ kind: 'note', note: 'step_ended', step, ...more }),
    press(chat_id: string, answer: Answer = {}): number {
      add({ kind: 'user', chat_id, action: 'press', button: 'Talk to us', message_id: null })
      return event('REQUESTING TAKEOVER', chat_id, {}, answer)
    },
    says(chat_id: string, text: string, answer: Answer = {}): number {
      add({ kind: 'user', chat_id, action: 'message', text, message_id: 'm1' })
      return event('MESSAGE FROM USER', chat_id, { message: text }, answer)
    },
    agent: (chat_id: string, verb: string, text?: string, more: object = {}) =>
      add({
        kind: 'driver',
        chat_id,
        verb,
        outcome: 'ok',
        how: `POST http://127.0.0.1:3100/desk/${chat_id}/${verb}`,
        status: 204,
        duration_ms: 8.2,
        ...(text === undefined ? {} : { text }),
        ...more,
      }),
    fault: (chat_id: string, fault: string, effect: FaultEffect, hit: number, of: number | null, more: object = {}) =>
      add({ kind: 'fault', chat_id, fault, effect, hit, of, ...more }),
  }
}

export type JournalRecorder = ReturnType<typeof createTape>

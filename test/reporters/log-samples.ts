/** Journal entries of every kind, for tests of the log. */
import type { DeliveryFailure, Entry, EntryContent, EntryOf } from '../../src/platform/journal/entry.ts'

export const CHAT = 'c394b674-c865-4926-9541-db8f3c7cb8b6'

let seq = 0
export const at = (content: EntryContent): Entry =>
  ({ v: 1, seq: ++seq, time: '2024-01-01T09:00:01.000001Z', cause: null, ...content }) as Entry

export const created = at({
  kind: 'note',
  note: 'chat_created',
  chat_id: CHAT,
  language: 'nb',
  source: 'web',
  user_id: 'u',
})
export const botSays = (text: string) => at({ kind: 'note', note: 'bot_message', chat_id: CHAT, message_id: 'm', text })
export const press = at({ kind: 'user', chat_id: CHAT, action: 'press', button: 'Talk to us', message_id: null })
export const says = (text: string) => at({ kind: 'user', chat_id: CHAT, action: 'message', text, message_id: 'm1' })

export const call = (content: Partial<EntryOf<'api'>> = {}) =>
  at({
    kind: 'api',
    chat_id: CHAT,
    endpoint: 'start',
    method: 'POST',
    path: '/api/v2/handover/start',
    alias: 'handover',
    auth: 'valid',
    request: { headers: {}, body: { bot_id: 1042, chat_id: CHAT }, bytes: 70 },
    status: 200,
    response: { event: 'TAKEOVER STARTED', chat_id: CHAT, chatmessage_id: 'm2' },
    findings: [],
    unspecified: {},
    duration_ms: 1.24,
    follows: null,
    ...content,
  })

export const event = (message: string, delivery_id = 'd1') =>
  at({
    kind: 'event',
    chat_id: CHAT,
    event: 'MESSAGE FROM USER',
    delivery_id,
    payload: { event: 'MESSAGE FROM USER', message } as never,
  })

export const delivery = (content: Partial<EntryOf<'delivery'>> = {}) =>
  at({
    kind: 'delivery',
    chat_id: CHAT,
    delivery_id: 'd1',
    event: 'MESSAGE FROM USER',
    attempt: 1,
    outcome: 'delivered',
    url: 'http://127.0.0.1:3000/webhook',
    request: { headers: {}, body: '{}' },
    status: 200,
    response: { headers: {}, body: 'ok', truncated: false },
    duration_ms: 12.3,
    ...content,
  })

export const refusedWith = (status: number, body = '', headers = {}) =>
  delivery({
    outcome: 'failed',
    status,
    response: { headers, body, truncated: false },
    failure: { code: 'not_acknowledged', status, event: 'MESSAGE FROM USER' },
  })
export const failedWith = (failure: DeliveryFailure, url = 'http://127.0.0.1:3000/webhook') =>
  delivery({ outcome: 'failed', status: null, response: null, failure, url })
export const altered = (entry: Entry, changes: object) => ({ ...entry, ...changes }) as Entry
export const target = '127.0.0.1:3000'

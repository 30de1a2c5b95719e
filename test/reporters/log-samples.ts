/** Single journal entries of every kind, for tests of the log. */
import type { DeliveryFailure, Entry, EntryOf } from '../../src/platform/journal/entry.ts'
import { CHATS, Journal } from './run-results.ts'

const entryOf = (write: (log: Journal) => void): Entry => {
  const log = new Journal()
  write(log)
  return log.entries[0]!
}

export const at = (content: object) => entryOf(log => log.add({ chat_id: CHATS.main, ...content }))
export const note = (name: string, details: object = {}) => at({ kind: 'note', note: name, ...details })
export const created = note('chat_created', { language: 'nb', source: 'web', user_id: 'u' })
export const press = entryOf(log => log.press())
export const says = (text: string) => entryOf(log => log.user(text))
export const event = (message: string, delivery_id = 'd1') =>
  entryOf(log => log.event('MESSAGE FROM USER', delivery_id, null, message))

/** A call of start, or of another endpoint, with this body. */
export const call = (more: Partial<EntryOf<'api'>> = {}, body: object = {}) =>
  entryOf(log => log.call(more.endpoint === undefined ? 'start' : more.endpoint, body, more))

export const delivery = (more: Partial<EntryOf<'delivery'>> = {}) => entryOf(log => log.delivery('d1', more))
export const refusedWith = (status: number, given: Refusal = {}) => {
  const { body = '', headers = {}, ...more } = given
  const failure = { code: 'not_acknowledged', status, event: 'MESSAGE FROM USER' } as const
  return delivery({ outcome: 'failed', status, response: { headers, body, truncated: false }, failure, ...more })
}
type Refusal = Partial<EntryOf<'delivery'>> & { body?: string; headers?: Record<string, string> }
export const failedWith = (failure: DeliveryFailure, url = 'http://127.0.0.1:3000/webhook') =>
  delivery({ outcome: 'failed', status: null, response: null, failure, url })

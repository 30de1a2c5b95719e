/** Which entry somebody waits for, and what came nearest when it did not come. */
import type { Entry } from '../../journal/entry.ts'
import type { Journal } from '../../journal/journal.ts'
import type { WaitQuery } from './request-schemas.ts'

type Filters = Omit<WaitQuery, 'after' | 'timeout'>

export function matcher(filters: Filters): (entry: Entry) => boolean {
  const kinds = kindsOf(filters)
  const { call, event, note, status, chat_id } = filters
  return entry => {
    const seen = entry as Partial<Record<'endpoint' | 'event' | 'note' | 'status' | 'chat_id', unknown>>
    return (
      (kinds === null || kinds.includes(entry.kind)) &&
      (call ?? seen.endpoint) === seen.endpoint &&
      (event ?? seen.event) === seen.event &&
      (note ?? seen.note) === seen.note &&
      (status ?? seen.status) === seen.status &&
      (chat_id ?? seen.chat_id) === seen.chat_id
    )
  }
}

/** The kinds a filter implies; an event may also mean its deliveries, when the kind says so. */
function kindsOf({ call, event, note, kind }: Filters): Entry['kind'][] | null {
  const implied = call ? 'api' : note ? 'note' : event ? 'event' : undefined
  const wanted = kind ?? implied
  return wanted === undefined ? null : [wanted]
}

const KEPT = 3

export interface Nearest {
  readonly earlier: Entry[]
  readonly other_chat: Entry[]
  readonly same_chat: Entry[]
  readonly last: Entry[]
}

export function nearestTo({ after = 0, timeout: _, ...filters }: WaitQuery, journal: Journal): Nearest {
  const all = journal.query()
  const later = all.filter(entry => entry.seq > after)
  const { chat_id, ...anyChat } = filters
  const kinds = kindsOf(filters)
  const sameChat = (entry: Entry) =>
    chat_id !== undefined && entry.chat_id === chat_id && (kinds === null || kinds.includes(entry.kind))
  return {
    earlier: all.filter(entry => entry.seq <= after && matcher(filters)(entry)).slice(-KEPT),
    other_chat: chat_id === undefined ? [] : later.filter(matcher(anyChat)).slice(-KEPT),
    same_chat: later.filter(sameChat).slice(-KEPT),
    last: all.slice(-5),
  }
}

/** `call start in chat c1, after seq 12` */
export function describe({ after, timeout: _, ...filters }: WaitQuery): string {
  const words = Object.entries(filters).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return `${words.join(', ')}${after === undefined ? '' : `, after seq ${after}`}`
}

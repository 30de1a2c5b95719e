/** Builds journals of runs by hand: the notes of the runner and the entries between. */

import type { Plan, PlannedItem } from '../../src/evaluation/scenario/plan.ts'
import type { EntryOf } from '../../src/platform/journal/entry.ts'
import { Journal } from '../reporters/run-results.ts'
import { planOf as compiled } from '../scenario/journal-builder.ts'

export type Written = ReturnType<typeof writeJournal>

/** `atMs` is when an entry ended; without it, each is a millisecond after the one before. Returns the seq. */
export function writeJournal() {
  const log = new Journal()
  const at = (atMs = log.entries.length + 1) => log.at(atMs - 1000)
  return {
    entries: log.entries,
    add: (content: object) => at().add(content),
    conversation: (chat_id: string, conversation: string) => at().note('conversation', { chat_id, conversation }),
    call(endpoint: EntryOf<'api'>['endpoint'], chat_id: string, { atMs, body, ...more }: CallMore = {}) {
      const about = { chat_id, duration_ms: 1, request: { headers: {}, bytes: 0, body: { ...IDS, chat_id, ...body } } }
      const seq = at(atMs).call(endpoint, {}, { ...about, response: {}, ...more })
      const change = endpoint === 'start' ? 'taken_over' : endpoint === 'end' ? 'handed_back' : null
      if (change !== null && ((more.status ?? 200) === 200 || more.answer_lost === 'after'))
        at(atMs).add({ kind: 'note', note: change, chat_id, cause: seq })
      return seq
    },
    event: (name: string, chat_id: string, atMs?: number) => at(atMs).event(name, 'd', null, undefined, chat_id),
    delivery: (cause: number, event: string, chat_id: string, { atMs, ...more }: DeliveryMore = {}) =>
      at(atMs).delivery('d', { cause, event, chat_id, duration_ms: 1, ...more }),
    user: (chat_id: string, text: string) => at().user(text, chat_id),
    driver: (verb: string, chat_id: string, more: object = {}) => at().driver(verb, { ...more, chat_id }),
  }
}

const IDS = { bot_id: 1042 }
type CallMore = Partial<EntryOf<'api'>> & { readonly atMs?: number; readonly body?: object }
type DeliveryMore = Partial<EntryOf<'delivery'>> & { readonly atMs?: number }

const PLAN = await compiled({ steps: [{ expect: 'start' }] })

export const planOf = (steps: readonly PlannedItem[] = [], more: Partial<Plan> = {}): Plan => ({
  ...{ ...PLAN, conversations: [], steps, count: steps.length },
  ...more,
})

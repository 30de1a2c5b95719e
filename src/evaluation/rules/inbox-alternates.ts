import { cut } from '../../base/text/cut.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { isDriverCall } from '../scenario/run-events.ts'
import { listed, type Mistake, type Rule } from './rule.ts'

/** Reports an inbox that loses what it showed, shows it again and loses it again: two instances answer in turn. */
export const inboxAlternates: Rule = {
  id: 'inbox-alternates',
  level: 'SHOULD',
  *judgeChat({ entries }) {
    const mistake = alternation(entries)
    if (mistake !== null) yield mistake
  },
}

/** An item that was there, gone, there and gone. One read that goes wrong does not have this effect. */
const CHANGES = 4
const MAX_CHARS = 60

/**
 * What the reads of the inbox of one chat, oldest first, show; null when nothing in it comes and goes by itself. When
 * anything else happens in the chat, such as an event or the end, the inbox may well show something else afterwards.
 */
export function alternation(entries: readonly Entry[]): Mistake | null {
  const changes = new Map<string, { isThere: boolean; readonly reads: { readonly seq: number }[] }>()
  for (const read of entries) {
    if (!isDriverCall(read) || read.verb !== 'inbox') changes.clear()
    if (!isDriverCall(read) || read.items === undefined) continue
    const shown = new Set(read.items.map(({ text, request }) => JSON.stringify(request ? 'the request' : (text ?? ''))))
    for (const name of shown) if (!changes.has(name)) changes.set(name, { isThere: false, reads: [] })
    for (const [name, item] of changes) {
      if (item.isThere === shown.has(name)) continue
      item.isThere = !item.isThere
      if (item.reads.push(read) === CHANGES) return mistakeOf(name, item.reads)
    }
  }
  return null
}

const mistakeOf = (name: string, reads: readonly { readonly seq: number }[]): Mistake => ({
  happened: `The inbox of the agent showed ${cut(name, MAX_CHARS)}, then no longer, then again, and then no longer (${listed(reads)}). Several instances of your service, which do not share their chats, seem to answer in turn.`,
  hint: 'Store chats where all instances of the service read them, such as a database, or test it with one instance. If there is only one, look why the inbox of the agent driver shows a part of the chat.',
  entries: reads,
})

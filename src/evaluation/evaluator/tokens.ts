/** Collects the texts of a journal: those users wrote, those in calls, and those agents saw. */

import { hashWords } from '../../base/runtime/random.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { ApiContent, Entry } from '../../platform/journal/entry.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import type { TextPlace } from './failure.ts'

/** What a user wrote, and by what it is known again. */
export interface Written {
  readonly chatId: string
  readonly seq: number
  readonly text: string
  /** A token, or the text itself; null when the text is too common to say anything. */
  readonly sign: string | null
}

/** A text that a call brought to the user, or an inbox to the agent. */
export interface Reached {
  readonly chatId: string
  readonly seq: number
  readonly text: string
  readonly place: TextPlace
  /** Null for an inbox. */
  readonly endpoint: EndpointId | null
}

/** A text this long (in code points) that only one user wrote is as good as a token. */
const TELLING = 12

export function writtenIn(entries: readonly Entry[]): Written[] {
  return entries.flatMap(entry => {
    if (entry.kind !== 'user' || entry.action !== 'message' || entry.text === undefined) return []
    const { chat_id: chatId, seq, text } = entry
    return [{ chatId, seq, text, sign: signOf(text) }]
  })
}

const signOf = (text: string): string | null => {
  const own = text.trim()
  return tokensIn(text)[0] ?? ([...own].length >= TELLING ? own : null)
}

export type Known = Written & { readonly sign: string }

/** Only what is known by a sign of its own: a text that a user of another chat wrote too tells nothing. */
export function known<One extends Written>(written: readonly One[]): (One & Known)[] {
  const writers = new Map<string, Set<string>>()
  for (const { text, chatId } of written) writers.set(text, (writers.get(text) ?? new Set()).add(chatId))
  const isOwn = (sign: string, own: string) =>
    isToken(sign) || [...writers].every(([text, chats]) => isOnly(chats, own) || !text.includes(sign))
  return written.filter(
    (one): one is One & Known =>
      one.sign !== null && isOnly(writers.get(one.text), one.chatId) && isOwn(one.sign, one.chatId),
  )
}

const isOnly = (chats: ReadonlySet<string> | undefined, own: string): boolean => chats?.size === 1 && chats.has(own)
const isToken = (sign: string): boolean => tokensIn(sign)[0] === sign

/** Finds the texts with a sign. Tokens are looked up in a map: a long run has many. */
export function finderIn<Where extends Reached>(reached: readonly Where[]): (sign: string) => readonly Where[] {
  const byToken = new Map<string, Where[]>()
  for (const one of reached) {
    for (const token of new Set(tokensIn(one.text))) byToken.set(token, [...(byToken.get(token) ?? []), one])
  }
  return sign => (isToken(sign) ? (byToken.get(sign) ?? []) : reached.filter(({ text }) => text.includes(sign)))
}

export function reachedIn(entries: readonly Entry[]): Reached[] {
  return entries.flatMap(entry => {
    if (entry.kind === 'api') return fromCall(entry, entry.seq)
    return entry.kind === 'driver' ? fromInbox(entry) : []
  })
}

function fromCall(call: ApiContent, seq: number): Reached[] {
  const { chat_id: chatId, endpoint, method, path } = call
  if (chatId === undefined) return []
  return stringsIn(call.request.body).map(text => ({
    chatId,
    seq,
    text,
    place: { code: 'call', method, path },
    endpoint,
  }))
}

/** An inbox is read repeatedly: `place` names the position of the item, which stays the same. */
function fromInbox({ chat_id: chatId, seq, items }: Extract<Entry, { kind: 'driver' | 'fault' }>): Reached[] {
  if (chatId === undefined || !Array.isArray(items)) return []
  return items.flatMap((item, index) =>
    stringsIn(item).map(text => ({
      chatId,
      seq,
      text,
      place: { code: 'inbox_item', position: index + 1 },
      endpoint: null,
    })),
  )
}

const SIGNS = 6
const RADIX = 36
const TOKEN = /⟦[0-9a-z]{6}⟧/g
const APPENDED = / ?⟦[0-9a-z]{6}⟧/g

/** The same seed text makes the same token; it begins with the space that parts it from the text. */
export function makeToken(seedText: string): string {
  const [a, b] = hashWords(seedText, 0)
  const word = (((a & 0xfffff) * 2 ** 32 + b) % RADIX ** SIGNS).toString(RADIX).padStart(SIGNS, '0')
  return ` ⟦${word}⟧`
}

/** The text as it was before. An engine may translate around a token, so it is taken out wherever it stands. */
export const stripToken = (text: string): string => text.replace(APPENDED, '')

/** Without the space; in the order they stand. */
export const tokensIn = (text: string): string[] => text.match(TOKEN) ?? []

/** Checks the names in `$(...)` when a driver is read, so that an unknown one does not fail a run. */
import { namesIn } from '../scenario/interpolation.ts'
import { nearest } from '../text/error-text.ts'
import { TEXTS } from './driver-texts.ts'

const CHAT = ['chat.id', 'chat.user_id', 'chat.language', 'chat.source', 'chat.name']
const SIM = ['sim.url', 'sim.api_key', 'sim.bot_id']
const ENV = /^env\.(\w+)$/

/** A text with `$(...)` and its path. */
export interface TextAtPath {
  readonly path: readonly PropertyKey[]
  readonly text: string
}

/** Every text inside of a value. */
export function textsWithPaths(value: unknown, path: readonly PropertyKey[]): TextAtPath[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, inner]) => textsWithPaths(inner, [...path, isList ? Number(key) : key]))
}

/** The environment variables a text reads. */
export const variablesIn = (text: string): string[] => namesIn(text).flatMap(name => ENV.exec(name)?.[1] ?? [])

/** What a text may name; `verb` is the verb it belongs to, null outside of verbs. */
export interface AllowedNames {
  readonly names: readonly string[]
  /** Whether what the scenario gives with `with:` may be named as well. */
  readonly parameters: boolean
}

export function allowedNames(verb: string | null): AllowedNames {
  if (verb === null) return { names: SIM, parameters: false }
  const chat = verb === 'away' || verb === 'back' ? [] : CHAT
  const parameters = verb.startsWith('does.')
  return { names: [...chat, ...(verb === 'says' || parameters ? ['text'] : []), ...SIM], parameters }
}

/** Problems with the names in a text. */
export function wrongNames(text: string, known: AllowedNames): string[] {
  return namesIn(text)
    .filter(name => !isKnown(name, known))
    .map(name => TEXTS.unknownName(name, suggestion(name, known)))
}

function isKnown(name: string, { names, parameters }: AllowedNames): boolean {
  if (names.includes(name) || ENV.test(name)) return true
  const [first = ''] = name.split(/[.[]/)
  return parameters && /^\w/.test(name) && !['chat', 'sim', 'env', 'text'].includes(first)
}

function suggestion(name: string, { names, parameters }: AllowedNames): string {
  const near = name.startsWith('env') ? '' : nearest(name, names)
  if (near !== '') return near
  return TEXTS.knownNames([...names, 'env.NAME', ...(parameters ? [TEXTS.parameters] : [])])
}

/** Which `$(...)` may be read, and what is wrong with the others. */
import { isKnob, KNOB_NAMES } from '../../contract/knobs.ts'
import { nearest } from '../../text/near-names.ts'
import { namesIn } from '../interpolation.ts'
import { TEXT_NAMES } from '../named-texts.ts'
import { firstWord, textsIn } from './templates.ts'
import { TEXTS } from './texts.ts'

/** What the play brings with it, and the parts each has; null: any. */
const BUILT_IN: Readonly<Record<string, readonly string[] | null>> = {
  chat: ['id', 'user_id', 'language', 'source', 'name'],
  bot: ['id', 'name'],
  sim: ['url', 'api_key', 'bot_id'],
  env: null,
  config: null,
  texts: TEXT_NAMES,
}
export const RESERVED: readonly string[] = [...Object.keys(BUILT_IN), 'i', 'user']

/** Settings that are no knobs. */
const SETTINGS = [
  'port',
  'host',
  'seed',
  'clock',
  'base_url',
  'webhook.url',
  'bot.id',
  'bot.name',
  'bot.organization_id',
]

export interface NameProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** `names` are those defined up to here. */
export function unknownNames(value: unknown, names: ReadonlySet<string>): NameProblem[] {
  return [...textsIn(value)].flatMap(({ text, path }) =>
    namesIn(text).flatMap(name => {
      const message = nameProblem(name, names)
      return message === null ? [] : [{ path, message }]
    }),
  )
}

function nameProblem(path: string, names: ReadonlySet<string>): string | null {
  const first = firstWord(path)
  if (names.has(first)) return null
  if (!Object.hasOwn(BUILT_IN, first)) return notDefined(path, [...new Set([...names, ...Object.keys(BUILT_IN)])])
  const rest = path.slice(first.length + 1)
  if (first === 'config') return configProblem(rest)
  const parts = BUILT_IN[first]
  if (parts === null || parts === undefined || rest === '' || parts.includes(firstWord(rest))) return null
  return TEXTS.unknownPart(path, nearest(rest, parts) || TEXTS.has(first, parts))
}

function notDefined(path: string, names: readonly string[]): string {
  if (path === '') return TEXTS.emptyName
  return TEXTS.undefinedName(path, nearest(firstWord(path), names) || TEXTS.thereAre(names))
}

function configProblem(name: string): string | null {
  if (name === '' || isKnob(name) || SETTINGS.includes(name)) return null
  return TEXTS.unknownSetting(name, nearest(name, [...KNOB_NAMES, ...SETTINGS]))
}

/** Names of environment variables that are read. */
export const envIn = (value: unknown): string[] =>
  namesIn(value)
    .filter(name => name.startsWith('env.'))
    .map(name => name.slice('env.'.length))

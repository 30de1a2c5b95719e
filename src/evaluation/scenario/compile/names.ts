/** Finds `$(...)` that read a name which is not defined, and lists the names that every scenario has. */
import textsFile from '../../../../fixtures/texts.json' with { type: 'json' }
import { nearest } from '../../../base/text/error-text.ts'
import { isKnob, KNOB_NAMES } from '../../../platform/contract/knobs.ts'
import type { Path } from '../format/scenario.ts'
import { firstWord, namesIn, textsIn } from '../interpolation.ts'
import { COMPILE_TEXTS } from './texts.ts'

export interface NamedText {
  /** The mistake that the text reveals. */
  readonly about: string
  readonly text: string
}

/** Texts that often break real systems: `$(texts.NAME)`. */
const NAMED_TEXTS: Readonly<Record<string, NamedText>> = textsFile.texts
export const TEXT_NAMES: readonly string[] = Object.keys(NAMED_TEXTS)

/** The texts of these names; unknown names are left out. */
export function namedTexts(names: Iterable<string>): Record<string, string> {
  const wanted = new Set(names)
  const found = Object.entries(NAMED_TEXTS).filter(([name]) => wanted.has(name))
  return Object.fromEntries(found.map(([name, { text }]) => [name, text]))
}

/** Names that exist in every run, with the parts each has; `null` means any part. */
const BUILT_IN: Readonly<Record<string, readonly string[] | null>> = {
  chat: ['id', 'user_id', 'language', 'source', 'name'],
  bot: ['id', 'name'],
  sim: ['url', 'api_key', 'bot_id'],
  env: null,
  config: null,
  texts: TEXT_NAMES,
}
export const RESERVED_NAMES: readonly string[] = [...Object.keys(BUILT_IN), 'i', 'user']

/** Settings that are not knobs. */
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

/** Problems of every `$(...)` inside `value`; `names` are those defined before it. */
export function unknownNames(value: unknown, names: ReadonlySet<string>): { path: Path; message: string }[] {
  return Array.from(textsIn(value)).flatMap(({ text, path }) =>
    namesIn(text).flatMap(name => {
      const message = nameProblem(name, names)
      return message === null ? [] : [{ path, message }]
    }),
  )
}

function nameProblem(path: string, names: ReadonlySet<string>): string | null {
  const first = firstWord(path)
  if (names.has(first)) return null
  const parts = Object.hasOwn(BUILT_IN, first) ? BUILT_IN[first] : undefined
  if (parts === undefined) return undefinedName(path, [...new Set([...names, ...Object.keys(BUILT_IN)])])
  const rest = path.slice(first.length + 1)
  if (first === 'config') return configProblem(rest)
  if (parts === null || rest === '' || parts.includes(firstWord(rest))) return null
  return COMPILE_TEXTS.unknownPart(path, nearest(rest, parts) || COMPILE_TEXTS.has(first, parts))
}

function undefinedName(path: string, names: readonly string[]): string {
  if (path === '') return COMPILE_TEXTS.emptyName
  return COMPILE_TEXTS.undefinedName(path, nearest(firstWord(path), names) || COMPILE_TEXTS.thereAre(names))
}

function configProblem(name: string): string | null {
  if (name === '' || isKnob(name) || SETTINGS.includes(name)) return null
  return COMPILE_TEXTS.unknownSetting(name, nearest(name, [...KNOB_NAMES, ...SETTINGS]))
}

/** Names of the environment variables that a value reads. */
export const envIn = (value: unknown): string[] =>
  namesIn(value)
    .filter(name => name.startsWith('env.'))
    .map(name => name.slice('env.'.length))

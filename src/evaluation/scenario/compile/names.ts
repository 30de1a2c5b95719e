/** Finds `$(...)` that read a name which is not defined, and lists the names that every scenario has. */
import textsFile from '../../../../fixtures/texts.json' with { type: 'json' }
import { nearest } from '../../../base/text/error-text.ts'
import { isKnob, KNOB_NAMES } from '../../../platform/contract/knobs.ts'
import type { Path } from '../format/scenario.ts'
import { firstWord, namesIn, textsIn } from '../interpolation.ts'

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
  const found: Record<string, string> = {}
  for (const name of names) {
    const named = Object.hasOwn(NAMED_TEXTS, name) ? NAMED_TEXTS[name] : undefined
    if (named !== undefined) found[name] = named.text
  }
  return found
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

const SETTINGS_BESIDE_KNOBS = [
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

/** `; there are a, b`, after a problem with a name. */
export const existingNames = (names: readonly string[]): string =>
  `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`

/** Problems of every `$(...)` inside `value`; `names` are those defined before it. */
export function unknownNames(value: unknown, names: ReadonlySet<string>): { path: Path; message: string }[] {
  const problems: { path: Path; message: string }[] = []
  for (const { text, path } of textsIn(value))
    for (const name of namesIn(text)) {
      const message = nameProblem(name, names)
      if (message !== null) problems.push({ path, message })
    }
  return problems
}

function nameProblem(name: string, names: ReadonlySet<string>): string | null {
  const first = firstWord(name)
  if (names.has(first)) return null
  if (name === '') return '$() names nothing; write $$( for a literal $('
  const parts = Object.hasOwn(BUILT_IN, first) ? BUILT_IN[first] : undefined
  if (parts === undefined) {
    const all = [...new Set([...names, ...Object.keys(BUILT_IN)])]
    return `$(${name}) is not defined at this point${nearest(first, all) || existingNames(all)}`
  }
  const rest = name.slice(first.length + 1)
  if (first === 'config') {
    if (rest === '' || isKnob(rest) || SETTINGS_BESIDE_KNOBS.includes(rest)) return null
    return `$(config.${rest}) is not a setting${nearest(rest, [...KNOB_NAMES, ...SETTINGS_BESIDE_KNOBS])}`
  }
  if (parts === null || rest === '' || parts.includes(firstWord(rest))) return null
  return `$(${name}) does not exist${nearest(rest, parts) || `; ${first} has ${parts.join(', ')}`}`
}

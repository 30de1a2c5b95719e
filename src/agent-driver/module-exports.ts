/** Splits the exports of a driver module into functions and data. */
import { formatValue } from '../contract/explain-issues.ts'
import { ConfigError, fileProblem, type Problem } from '../files/errors.ts'
import { isMap } from '../files/is-map.ts'
import { nearest } from '../text/error-text.ts'
import type { FunctionVerb } from './driver.ts'
import { BUILT_IN_VERBS } from './driver-schema.ts'
import { TEXTS } from './driver-texts.ts'

type Run = FunctionVerb['run']
type Fields = Readonly<Record<string, unknown>>

export interface ModuleParts {
  readonly data: Fields
  readonly functions: Readonly<Record<string, Run>>
}

/** The default export when there is one, else the named ones. Throws `ConfigError`. */
export function splitFunctions(name: string, exports: Fields): ModuleParts {
  const all = 'default' in exports ? exports.default : exports
  if (!isMap(all)) {
    throw fileProblem(name, TEXTS.noVerbs(formatValue(all)))
  }
  const { does, ...rest } = all
  const plain = partition(Object.entries(rest), '')
  const own = isMap(does) ? partition(Object.entries(does), 'does.') : { data: does, functions: {} }
  checkNames(name, Object.keys(plain.functions))
  return {
    data: { ...plain.data, ...(does === undefined ? {} : { does: own.data }) },
    functions: { ...plain.functions, ...own.functions },
  }
}

function partition(entries: readonly [string, unknown][], prefix: string): ModuleParts {
  const isRun = (entry: [string, unknown]): entry is [string, Run] => typeof entry[1] === 'function'
  return {
    data: Object.fromEntries(entries.filter(entry => !isRun(entry))),
    functions: Object.fromEntries(entries.filter(isRun).map(([verb, run]) => [prefix + verb, run])),
  }
}

function checkNames(name: string, verbs: readonly string[]): void {
  const known: readonly string[] = BUILT_IN_VERBS
  const unknown = verbs.filter(verb => !known.includes(verb) && !verb.startsWith('does.'))
  if (unknown.length > 0) throw new ConfigError(unknown.map(verb => unknownVerb(name, verb, known)))
}

const unknownVerb = (name: string, verb: string, known: readonly string[]): Problem => ({
  at: `${name}: ${verb}`,
  file: name,
  message: TEXTS.unknownVerb(nearest(verb, known) || TEXTS.knownVerbs(known)),
})

/**
 * Interpolates `$(path)` in texts and data, computes the variables that a step can read, and finds those that are secrets. A value that is only `$(x)`
 * keeps its type; inside a longer text it becomes text. `$$(` is a literal `$(`.
 */

import { BUDGETS } from '../../base/files/budgets.ts'
import { nearest } from '../../base/text/error-text.ts'
import { type Redactor, withoutCredentials } from '../../base/text/redactor.ts'
import { isSecretPath } from '../../base/text/secret-positions.ts'
import { withNoticeTexts } from '../../platform/contract/bot-texts.ts'
import type { Plan } from './plan.ts'
import type { ConversationOpened, ScenarioStarted } from './run-events.ts'

export type InterpolationScope = Readonly<Record<string, unknown>>

/** A `$(...)` has no value; the message names the missing part and the names that exist. */
export class InterpolationError extends Error {
  override readonly name = 'InterpolationError'
}

/** A `$(...)` makes a value that is larger than the budget. */
export class OversizedValueError extends InterpolationError {
  constructor() {
    super(`$(...) makes a value of more than ${BUDGETS.valueSize} characters and parts`)
  }
}

export const PLACEHOLDER = /\$\$\(|\$\(([^()]*)\)/g
const ALONE = /^\$\(([^()]*)\)$/

/** The path of a text that is a single `$(path)`. */
export const onlyPath = (text: string): string | undefined => ALONE.exec(text)?.[1]

/** A matcher of a test runner: `expect.any(String)`, `expect.stringContaining('a')`. */
export interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean
}

export const isAsymmetric = (value: unknown): value is Asymmetric =>
  typeof value === 'object' &&
  value !== null &&
  'asymmetricMatch' in value &&
  typeof value.asymmetricMatch === 'function'

/** A copy of a value with every text inside changed; keys and matchers of test runners stay as they are. */
export function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => mapTexts(item, change))
  if (typeof value !== 'object' || value === null || value instanceof RegExp || isAsymmetric(value)) return value
  const changed: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    const mapped = mapTexts(inner, change)
    // An assignment would not create `__proto__`.
    if (key === '__proto__')
      Object.defineProperty(changed, key, { value: mapped, enumerable: true, writable: true, configurable: true })
    else changed[key] = mapped
  }
  return changed
}

/** Interpolates every text inside. Throws `InterpolationError`. */
export const interpolate = (template: unknown, scope: InterpolationScope): unknown =>
  mapTexts(template, text => {
    const path = onlyPath(text)
    if (path !== undefined) return lookUp(path, scope)
    return replacePlaceholders(text, inner => asText(lookUp(inner, scope)), '$(')
  })

/** Replaces each `$(path)` for which `replace` gives a text, and each `$$(` by `literal`. */
export const replacePlaceholders = (
  text: string,
  replace: (path: string) => string | undefined,
  literal: string,
): string => {
  if (!text.includes('$(')) return text
  let size = text.length
  return text.replace(PLACEHOLDER, (whole, path: string | undefined) => {
    const made = path === undefined ? literal : (replace(path) ?? whole)
    size += made.length
    if (size > BUDGETS.valueSize) throw new OversizedValueError()
    return made
  })
}

/** The number of characters and parts; a shared part counts each time it occurs. Throws `OversizedValueError`. */
export function sizeOfValue(value: unknown): number {
  const sizes = new Map<object, number>()
  const sizeOf = (part: unknown): number => {
    if (typeof part === 'string') return part.length
    if (typeof part !== 'object' || part === null) return 1
    const known = sizes.get(part)
    if (known !== undefined) return known
    const size = Object.values(part).reduce<number>((sum, inner) => sum + sizeOf(inner), 1)
    sizes.set(part, size)
    return size
  }
  const total = sizeOf(value)
  if (total > BUDGETS.valueSize) throw new OversizedValueError()
  return total
}

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')

/** Resolves `body.sender.name` or `languages[0]`; a key with dots, as in `config.messages.open`, comes first. */
export function lookUp(path: string, scope: InterpolationScope): unknown {
  const value = valueAt(path.trim(), scope)
  if (value !== MISSING) return value
  const first = firstWord(path)
  const names = Object.keys(scope)
  const hint = Object.hasOwn(scope, first)
    ? `; ${first} has no such part`
    : nearest(first, names) || `; there are ${names.join(', ')}`
  throw new InterpolationError(`$(${path}) is not known here${hint}`)
}

/** The name that a path begins with: `body` of `body.sender.name`. */
export const firstWord = (path: string): string => path.trim().split(/[.[]/)[0] ?? ''

export const MISSING: unique symbol = Symbol('missing')

/** The part of a value at a path, or `MISSING`. */
export function valueAt(path: string, value: unknown): unknown {
  if (path === '') return value
  if (typeof value !== 'object' || value === null) return MISSING
  if (Object.hasOwn(value, path)) return Reflect.get(value, path)
  for (let end = lastBreak(path, path.length); end > 0; end = lastBreak(path, end)) {
    const [head, rest] = [path.slice(0, end), path.slice(end)]
    if (!Object.hasOwn(value, head)) continue
    return valueAt(rest.replace(/^\./, '').replace(/^\[(\d+)\]/, '$1'), Reflect.get(value, head))
  }
  return MISSING
}

const lastBreak = (path: string, before: number) =>
  Math.max(path.lastIndexOf('.', before - 1), path.lastIndexOf('[', before - 1))

/** The path of every `$(...)` inside: `env.TEAM`, `chat.id`, `who`. */
export function namesIn(template: unknown): string[] {
  const names: string[] = []
  for (const { text } of textsIn(template))
    for (const [, path] of text.matchAll(PLACEHOLDER)) if (path !== undefined) names.push(path.trim())
  return names
}

/** Every text inside a value, keys left out. */
export function stringsIn(value: unknown): string[] {
  const texts: string[] = []
  for (const { text } of textsIn(value)) texts.push(text)
  return texts
}

/** Every text inside a value with the path to it, keys left out. */
export function* textsIn(
  value: unknown,
  path: readonly PropertyKey[] = [],
): Generator<{ text: string; path: readonly PropertyKey[] }> {
  if (typeof value === 'string') yield { text: value, path }
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index])
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, [...path, key])
}

const SECRET_NAME =
  /api_?key|token|secret|passw|passphrase|credential|(^|_)(keys?|auth|authorization|pass|pat|cookie|bearer)(_|$)|_pwd$/i
/** A JSON Web Token, or letters of both cases with digits, such as only programs make. */
const SECRET_VALUE = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$|^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+=-]{20,}$/
const AFTER_SCHEME = /\b(Bearer|Basic) +\S+/gi

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Adds the values of variables whose name says that they are secrets, whose value has the form of one, or which `template`
 * reads where a secret stands: below the name of a secret, in the credentials of an address, after `Bearer`. Other
 * values are ordinary words, which a report without them would not be readable. Of addresses, adds the credentials.
 */
export function addSecretVariables(
  secrets: Redactor,
  names: readonly string[],
  env: Environment,
  template: unknown,
): void {
  if (names.length === 0) return
  const inSecrets = new Set<string>()
  for (const { text, path } of textsIn(template)) {
    const rest = isSecretPath(path) ? '' : withoutCredentials(text).replace(AFTER_SCHEME, '')
    const ordinary = namesIn(rest)
    for (const name of namesIn(text)) if (!ordinary.includes(name)) inSecrets.add(name)
  }
  for (const name of names) {
    const value = env[name]
    if (value === undefined) continue
    if (SECRET_NAME.test(name) || SECRET_VALUE.test(value) || inSecrets.has(`env.${name}`)) secrets.add(value)
    else secrets.addUrl(value)
  }
}

type Values = Readonly<Record<string, unknown>>

/**
 * The values that `$(...)` reads in a step. The runner writes what it captures into the journal, so the evaluator
 * computes the same values from the run events.
 */
export interface Variables {
  start(event: ScenarioStarted): void
  open(event: ConversationOpened): void
  /** Keeps values for later steps: those of the conversation first, then for all others. */
  capture(conversation: string, values: Values): void
  /** Everything captured so far, by name. */
  captures(): Values
  /** The values for a step of a conversation; `own` are those of the step itself, such as `$(i)` of a repeat. */
  scopeOf(conversation: string, own?: InterpolationScope): InterpolationScope
}

export function createVariables(plan: Plan): Variables {
  const chats = new Map<string, ConversationOpened['chat']>()
  const captured = new Map<string, Values>()
  let captures: Values = {}
  let started: ScenarioStarted | null = null
  /** What all steps of a conversation read, until a value changes. */
  const scopes = new Map<string, InterpolationScope>()

  function shareScope(conversation: string): InterpolationScope {
    const known = scopes.get(conversation)
    if (known !== undefined) return known
    const chat = chats.get(conversation)
    const ofRun = {
      chat: chat ?? {},
      bot: started?.bot ?? plan.bot,
      config: withNoticeTexts(started?.config ?? {}, chat?.language ?? ''),
      env: started?.env ?? {},
      sim: started?.sim ?? {},
      ...plan.matrix,
    }
    const ofConversation = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
    const written = filledOver(filledOver(ofRun, plan.vars), ofConversation)
    const scope = { ...written, ...captures, ...captured.get(conversation) }
    scopes.set(conversation, scope)
    return scope
  }

  return {
    start(event) {
      started = event
      scopes.clear()
    },
    open({ conversation, chat }) {
      chats.set(conversation, chat)
      scopes.clear()
    },
    capture(conversation, values) {
      scopes.clear()
      captured.set(conversation, { ...captured.get(conversation), ...values })
      captures = { ...captures, ...values }
    },
    captures: () => captures,
    /** The nearer value wins: the step's own, then captures, then those of the conversation, then `vars`. */
    scopeOf: (conversation, own = {}) => filledOver(shareScope(conversation), own),
  }
}

/** Adds a layer whose values may read the values below. Captured values are foreign data and are never interpolated. */
export function filledOver(below: InterpolationScope, layer: InterpolationScope): InterpolationScope {
  const scope: Record<string, unknown> = { ...below }
  for (const [name, value] of Object.entries(layer)) {
    try {
      scope[name] = interpolate(value, scope)
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      // A value that cannot be interpolated yet is an error only where it is read.
      scope[name] = value
    }
  }
  return scope
}

/** Defines the schemas of settings, and changes and shows the configuration of a running simulator. */

import * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'
import { MAX_PROBLEMS, sentenceIssue } from '../../base/schemas/explain-issues.ts'
import { shortName, suggest } from '../../base/text/error-text.ts'
import { assumptionOf } from '../contract/assumptions.ts'
import {
  allowedFor,
  defaultKnobs,
  formatKnob,
  formatKnobs,
  isKnob,
  KNOB_NAMES,
  type KnobName,
  type KnobOrigin,
  parseKnob,
  schemaFor,
} from '../contract/knobs.ts'
import { Button } from '../contract/schemas.ts'
import { maskSetting } from '../journal/mask.ts'
import { readBusinessHours, WEEKDAYS } from '../rules/business-hours.ts'
import { loadTranslate } from './components.ts'
import type { Core } from './core.ts'
import {
  applyKnobs,
  either,
  hoursProblem,
  InvalidOptionError,
  type OptionKind,
  only,
  readKnob,
  SETTING_KINDS,
  type SettingProblem,
  unexpected,
} from './options.ts'

/** Reads a setting that is not a knob; returns a problem, or the function that applies the value. */
type Reader = (core: Core, value: unknown) => SettingProblem | (() => void)

const reader =
  <Value>(name: string, kind: OptionKind<Value>, apply: (core: Core, value: Value) => void): Reader =>
  (core, value) =>
    kind.fits(value) ? () => apply(core, value) : unexpected(name, kind, value)

const OTHERS: Record<string, Reader> = {
  'webhook.url': reader('webhook.url', either(SETTING_KINDS['webhook.url'], only(null)), (core, value) => {
    core.address.webhookUrl = value
  }),
  'bot.replies': reader('bot.replies', SETTING_KINDS['bot.replies'], (core, value) => {
    core.platform.settings.replies = value
  }),
  business_hours: (core, value) => {
    const read = value === null ? null : readBusinessHours(isMap(value) ? value : {})
    if (read !== null && 'message' in read) return hoursProblem(read)
    return () => {
      core.platform.settings.businessHours = read
    }
  },
}

/** All settings that can be changed at run time. */
const SETTING_NAMES: readonly string[] = [...KNOB_NAMES, ...Object.keys(OTHERS)]

export interface ReadSettings {
  readonly problems: readonly SettingProblem[]
  readonly knobs: Readonly<Record<string, unknown>>
  /** Functions that apply the settings that are not knobs. */
  readonly applies: readonly (() => void)[]
}

/** Reads settings without changing anything. Data may name only the modules that the user has named. */
export function readSettings(core: Core, patch: Readonly<Record<string, unknown>>, origin: KnobOrigin): ReadSettings {
  const problems: SettingProblem[] = []
  const applies: (() => void)[] = []
  const knobs: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(patch)) {
    if (problems.length > MAX_PROBLEMS) break
    const other = Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined
    const read =
      other?.(core, value) ??
      (isKnob(name)
        ? readKnob(name, value, typeof value === 'string' && core.userModules.has(value) ? 'user' : origin)
        : unknown(name))
    if (typeof read === 'function') applies.push(read)
    else if ('message' in read) problems.push(read)
    else knobs[name] = value
  }
  return { problems, knobs, applies }
}

/** Checks the knobs of a new workspace. Throws `InvalidOptionError` for a module that no flag, config file or code has named. */
export function checkModules(core: Core, knobs: Readonly<Record<string, unknown>>): void {
  const { 'translation.engine': engine } = knobs
  if (engine === undefined) return
  const { problems } = readSettings(core, { 'translation.engine': engine }, 'data')
  if (problems.length > 0) throw new InvalidOptionError(problems)
}

/** Applies all settings or none. Throws `InvalidOptionError` with the problem of every invalid value. */
export async function configure(
  core: Core,
  patch: Readonly<Record<string, unknown>>,
  origin: KnobOrigin,
): Promise<void> {
  const settings = readSettings(core, patch, origin)
  if (settings.problems.length > 0) throw new InvalidOptionError(settings.problems)
  await checkEngine(settings.knobs['translation.engine'])
  const before = effectiveConfig(core)
  applySettings(core, settings)
  core.userModules.add(core.platform.knobs['translation.engine'])
  core.resets.refresh()
  const previous = Object.fromEntries(Object.keys(patch).map(name => [name, before[name]]))
  core.journal.append({ kind: 'note', note: 'config', changed: maskKeys(patch), previous }, null)
}

export function applySettings({ platform }: Core, { knobs, applies }: ReadSettings): void {
  applyKnobs(platform.knobs, knobs)
  for (const apply of applies) apply()
}

export async function checkEngine(engine: unknown): Promise<void> {
  if (typeof engine === 'string' && engine !== 'marker' && engine !== 'identity') await loadTranslate(engine)
}

const unknown = (name: string): SettingProblem => ({
  name: shortName(name),
  message: `${shortName(name)} is not a setting${suggest(name, SETTING_NAMES)}`,
  allowed: SETTING_NAMES,
})

function maskKeys(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const masked = { ...patch }
  for (const name of Object.keys(patch)) masked[name] = maskSetting(name, patch[name])
  return masked
}

/** Returns all effective settings by dotted name; keys are masked. */
export function effectiveConfig(core: Core): Record<string, unknown> {
  return maskKeys({
    seed: core.identity.seed,
    clock: core.clock.mode,
    base_url: core.address.base,
    'webhook.url': core.address.webhookUrl,
    'bot.id': core.identity.bot.id,
    'bot.name': core.identity.bot.name,
    'bot.replies': core.platform.settings.replies,
    business_hours: core.platform.settings.businessHours?.written ?? null,
    ...formatKnobs(core.platform.knobs),
  })
}

/** A value that `fits`; `expected` names what does, and `shape` is its JSON Schema. */
export const predicateSchema = (
  fits: (value: unknown) => boolean,
  expected: () => string,
  shape: Readonly<Record<string, unknown>>,
) =>
  z.unknown().check(ctx => {
    const { value } = ctx
    if (fits(value)) return
    const textFits = typeof value !== 'object' && fits(String(value))
    ctx.issues.push({ code: 'custom', input: value, message: expected(), params: { textFits } })
  }, z.meta(shape))

export const described = (description: string, ...examples: readonly unknown[]) =>
  z.meta(examples.length === 0 ? { description } : { description, examples: [...examples] })

const initial = defaultKnobs()

function knobSchema(name: KnobName, also: PlaceholderSchema | null) {
  const origin = also === null ? 'user' : 'data'
  const allowed = allowedFor(name, origin)
  const { rule, open, behaviour } = assumptionOf(name)
  const fits = (value: unknown) => (also?.is(value) ?? false) || parseKnob(name, value, origin) !== undefined
  return predicateSchema(fits, () => allowed, {
    ...(also === null ? schemaFor(name, origin) : { anyOf: [schemaFor(name, origin), also.shape] }),
    id: name,
    description: `${allowed}. Left open (${rule}): ${open} Unless set: ${behaviour}`,
    default: formatKnob(name, initial[name]),
  })
}

/** A text such as `$(name)` in place of a value that is known later. */
export interface PlaceholderSchema {
  is(value: unknown): boolean
  readonly shape: Readonly<Record<string, unknown>>
}

/**
 * Makes one schema for each knob, because a knob can be written in several places. With placeholders they are for
 * scenarios, which are data and name no modules.
 */
export function knobSchemas(also: PlaceholderSchema | null = null) {
  const made = new Map(KNOB_NAMES.map(name => [name, z.optional(knobSchema(name, also))]))
  /** The knobs `group.*`, by the rest of their names. */
  const of = (group: string) => {
    const inGroup = [...made].filter(([name]) => name.startsWith(`${group}.`))
    return Object.fromEntries(inGroup.map(([name, schema]) => [name.slice(group.length + 1), schema]))
  }
  const groups = new Set(KNOB_NAMES.map(name => name.slice(0, name.indexOf('.'))))
  const nested = Object.fromEntries([...groups].map(group => [group, z.optional(z.strictObject(of(group)))]))
  /** Every knob, dotted or nested. */
  const all = z.strictObject({ ...Object.fromEntries(made), ...nested })
  return { of, all }
}

const START = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/
const isStart = (value: unknown) => typeof value === 'string' && START.test(value) && !Number.isNaN(Date.parse(value))

export const ClockSchema = z.union([
  z.enum(['real', 'virtual']),
  z.strictObject({
    mode: z.enum(['real', 'virtual']),
    start: z.optional(
      predicateSchema(isStart, () => 'a time such as "2024-01-01T09:00:00Z"', {
        type: 'string',
        description: 'Where a virtual clock begins',
      }),
    ),
  }),
])

export const ReplySchema = z.strictObject({
  match: z.string().check(z.minLength(1), described('A word or sentence of the user, without regard to case')),
  text: z.string().check(described("The bot's answer")),
  buttons: z.optional(z.array(Button)),
})

/** In upper or lower case. */
const DAYS = `(${WEEKDAYS.map(day => day.replace(/./g, char => `[${char.toUpperCase()}${char}]`)).join('|')})`
export const BusinessHoursSchema = z.unknown().check(
  ctx => {
    const { value } = ctx
    if (value === null) return
    const read = isMap(value) ? readBusinessHours(value) : null
    if (read === null)
      ctx.issues.push({
        code: 'custom',
        input: value,
        message: 'a map such as { time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }',
      })
    else if ('message' in read) ctx.issues.push(sentenceIssue('unexpected_value', value, read.message, [read.key]))
  },
  z.meta({
    type: ['object', 'null'],
    required: ['time_zone'],
    properties: { time_zone: { type: 'string', examples: ['Europe/Oslo'] } },
    patternProperties: { [`^${DAYS}(-${DAYS})?$`]: { type: 'string', pattern: '^\\d\\d:\\d\\d-\\d\\d:\\d\\d$' } },
    additionalProperties: false,
    description: 'When handover requests are accepted; a day not named is closed',
  }),
)

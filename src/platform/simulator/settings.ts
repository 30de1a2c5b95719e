/** Changes and shows the configuration of a running simulator. */

import { MAX_PROBLEMS } from '../../base/schemas/explain-issues.ts'
import { shortName, suggest } from '../../base/text/error-text.ts'
import { formatKnobs, isKnob, KNOB_NAMES, type KnobOrigin } from '../contract/knobs.ts'
import { maskSetting } from '../journal/mask.ts'
import { readBusinessHours } from '../rules/business-hours.ts'
import { loadTranslate } from './components.ts'
import type { Core } from './core.ts'
import {
  applyKnobs,
  either,
  hoursProblems,
  InvalidOptionError,
  type OptionKind,
  only,
  readKnob,
  SETTING_KINDS,
  type SettingProblem,
  unexpected,
} from './options.ts'

/** Reads a setting that is not a knob; returns its problems, or the function that applies the value. */
type Reader = (core: Core, value: unknown) => SettingProblem | readonly SettingProblem[] | (() => void)

const reader =
  <Value>(name: string, kind: OptionKind<Value>, apply: (core: Core, value: Value) => void): Reader =>
  (core, value) =>
    kind.fits(value) ? () => apply(core, value) : unexpected(name, kind, value)

const OTHERS: Record<string, Reader> = {
  base_url: reader('base_url', SETTING_KINDS.base_url, (core, value) => {
    core.address.base = value.replace(/\/+$/, '')
  }),
  'webhook.url': reader('webhook.url', either(SETTING_KINDS['webhook.url'], only(null)), (core, value) => {
    core.address.webhookUrl = value
  }),
  'bot.replies': reader('bot.replies', SETTING_KINDS['bot.replies'], (core, value) => {
    core.platform.settings.replies = value
  }),
  business_hours: (core, value) => {
    const read = value === null ? null : readBusinessHours(value)
    if (read !== null && 'problems' in read) return hoursProblems(read)
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
    const reader = Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined
    const read =
      reader?.(core, value) ??
      (isKnob(name)
        ? readKnob(name, value, typeof value === 'string' && core.userModules.has(value) ? 'user' : origin)
        : unknown(name))
    if (typeof read === 'function') applies.push(read)
    else if (Array.isArray(read) || 'message' in read) problems.push(...[read].flat())
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

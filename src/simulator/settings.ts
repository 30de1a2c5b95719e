/** Changing and showing the configuration of a running simulator. */
import { isKnob, KNOB_NAMES, showKnobs } from '../contract/knobs.ts'
import { nearest } from '../contract/nearest.ts'
import { readBusinessHours } from '../platform/hours.ts'
import type { Core } from './core.ts'
import { loadTranslate } from './engines.ts'
import { applyKnobs, InvalidSetting, readKnob, type SettingProblem } from './options.ts'

/** Settings that are no knobs, each with how it is read and applied. */
const OTHERS: Record<string, (core: Core, value: unknown) => SettingProblem | (() => void)> = {
  'webhook.url': (core, value) => {
    if (value === null || isHttpUrl(value)) return () => void (core.address.webhookUrl = value as string | null)
    return {
      name: 'webhook.url',
      message: `webhook.url must be an http or https URL, or null, got ${JSON.stringify(value)}.`,
    }
  },
  business_hours: (core, value) => {
    if (value === null) return () => void (core.settings.businessHours = null)
    const read = readBusinessHours(typeof value === 'object' ? (value as Record<string, unknown>) : {})
    if ('week' in read) return () => void (core.settings.businessHours = read)
    return { name: 'business_hours', message: `business_hours.${read.key} ${read.message}.` }
  },
}

export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

/** Applies all of it or none. Throws `InvalidSetting` naming every value that cannot be. */
export async function configure(core: Core, patch: Readonly<Record<string, unknown>>): Promise<void> {
  const problems: SettingProblem[] = []
  const applies: (() => void)[] = []
  const knobs: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(patch)) {
    const read = OTHERS[name]?.(core, value) ?? (isKnob(name) ? readKnob(name, value) : unknown(name))
    if (typeof read === 'function') applies.push(read)
    else if ('message' in read) problems.push(read)
    else knobs[name] = value
  }
  if (problems.length > 0) throw new InvalidSetting(problems)
  await checkEngine(knobs['translation.engine'])
  applyKnobs(core.room.knobs, knobs)
  for (const apply of applies) apply()
  core.refresh()
  core.journal.append({ kind: 'note', note: 'config', changed: maskKeys(patch) }, null)
}

async function checkEngine(engine: unknown): Promise<void> {
  if (typeof engine === 'string' && engine !== 'marker' && engine !== 'identity') await loadTranslate(engine)
}

const unknown = (name: string): SettingProblem => ({
  name,
  message: `${name} is not a setting${nearest(name, [...KNOB_NAMES, ...Object.keys(OTHERS)])}.`,
})

const maskKeys = (patch: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, name.startsWith('keys.') ? '***' : value]))

/** Everything in force, flat and by name; keys are masked. */
export function effectiveConfig(core: Core): Record<string, unknown> {
  return maskOnlySecrets({
    seed: core.seed,
    clock: core.clock.mode,
    base_url: core.address.base,
    'webhook.url': core.address.webhookUrl,
    'bot.id': core.bot.id,
    'bot.name': core.bot.name,
    'bot.replies': core.settings.replies,
    business_hours: core.settings.businessHours === null ? null : { time_zone: core.settings.businessHours.timeZone },
    ...showKnobs(core.room.knobs),
  })
}

const SECRETS = ['keys.handover', 'keys.bot', 'keys.more']
function maskOnlySecrets(config: Record<string, unknown>): Record<string, unknown> {
  for (const name of SECRETS) if (config[name] !== 'off') config[name] = '***'
  return config
}

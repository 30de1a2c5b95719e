import { decoded } from '../../base/text/url-text.ts'
import { defaultKnobs } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import type { JudgedPlan, Rule } from './rule.ts'

/** A secret that journals must not show; `parameter` is recognized by its name. */
interface Secret {
  readonly kind: 'api_key' | 'signature' | 'parameter'
  readonly value: string
}
type SecretPlace = 'text' | 'address' | 'webhook_answer'

/** Reports API keys and signatures in texts, addresses and answers, where people and logs can read them. */
export const secretExposed: Rule = {
  id: 'secret-exposed',
  level: 'SHOULD',
  *judgeAll({ entries }, { plan }) {
    const secrets = secretsOf(plan, entries)
    for (const entry of entries)
      for (const { place, text } of textsOf(entry)) {
        const secret = hasSecretParameter(place, text)
          ? 'parameter'
          : secrets.find(({ value }) => text.includes(value))?.kind
        if (secret === undefined) continue
        yield {
          happened: `#${entry.seq} has ${SECRETS[secret]} in ${PLACES[place]}. ${READERS[place]} can use it to write to every chat of the bot, or to forge events.`,
          hint: 'Send the key only in the Authorization header, and replace a key that was exposed.',
          chat_id: entry.chat_id,
          details: { secret, place },
          entries: [entry],
        }
      }
  },
}

const SECRETS: Readonly<Record<Secret['kind'], string>> = {
  api_key: 'an API key',
  signature: 'a webhook signature',
  parameter: 'a key or token',
}

const PLACES: Readonly<Record<SecretPlace, string>> = {
  text: 'a text',
  address: 'the address',
  webhook_answer: 'the answer to a webhook',
}

const READERS: Readonly<Record<SecretPlace, string>> = {
  text: 'Everyone who reads it, the user included,',
  address: 'Addresses are written to logs and proxies, and everyone who reads those',
  webhook_answer: 'Everyone who can call the webhook',
}

const DEFAULT_KNOBS = defaultKnobs()
/** Shorter values are words that may occur anywhere. */
const MIN_SECRET_CHARS = 8

/** The keys of the scenario, and the keys and signatures in headers, which are masked in a saved journal. */
function secretsOf(plan: JudgedPlan, entries: readonly Entry[]): Secret[] {
  const found = new Map<string, Secret['kind']>()
  for (const name of ['keys.handover', 'keys.bot'] as const)
    found.set(String(plan.config[name] ?? DEFAULT_KNOBS[name]), 'api_key')
  for (const entry of entries) {
    if (entry.kind === 'api') {
      const [, key] = /^Bearer +(.+)$/i.exec(entry.request.headers.authorization ?? '') ?? []
      if (key !== undefined) found.set(key, 'api_key')
    }
    if (entry.kind === 'delivery')
      for (const value of Object.values(entry.request.headers))
        if (/^[\w+/]{43}=$/.test(value)) found.set(value, 'signature')
  }
  const secrets: Secret[] = []
  for (const [value, kind] of found)
    if (value.length >= MIN_SECRET_CHARS && !value.includes('***')) secrets.push({ kind, value })
  return secrets
}

function textsOf(entry: Entry): { place: SecretPlace; text: string }[] {
  if (entry.kind === 'delivery') return [{ place: 'webhook_answer', text: entry.response?.body ?? '' }]
  if (entry.kind !== 'api') return []
  return [
    { place: 'address', text: decoded(entry.path) },
    ...stringsIn(entry.request.body).map(text => ({ place: 'text', text }) as const),
  ]
}

/** Looks at the names of parameters, because values are masked in a saved journal. */
function hasSecretParameter(place: SecretPlace, address: string): boolean {
  if (place !== 'address') return false
  // Splits in linear time: one expression for name and separators backtracks on a long address.
  const parts = address.split(/[?&]/).slice(1)
  return parts.some(part => /key|token|secret|auth/i.test(/^[^=#]*(?==)/.exec(part)?.[0] ?? ''))
}

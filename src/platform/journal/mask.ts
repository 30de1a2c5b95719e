/** Masks keys and signatures in entries and settings, for everything that leaves the simulator. */

import { createRedactor, REDACTED, type Redactor, withoutCredentials } from '../../base/text/redactor.ts'
import { defaultKnobs } from '../contract/knobs.ts'
import type { ApiContent, DeliveryContent, Entry } from './entry.ts'

export const MASK = REDACTED

const KEYS: readonly string[] = ['keys.handover', 'keys.bot', 'keys.more']

/** Masks the value of a key setting. `off` means that there is no key and stays visible. */
export const maskSetting = (name: string, value: unknown): unknown =>
  KEYS.includes(name) && value !== 'off' ? MASK : value

/** A redactor for the settings of a simulator. The published default keys are no secret. */
export function createSecrets(): Redactor {
  const knobs = defaultKnobs()
  return createRedactor([knobs['keys.handover'], knobs['keys.bot']])
}

/** Adds the keys and the credentials of addresses in settings by dotted name, as they are in force or in a config file. */
export function addSecretsOf(secrets: Redactor, settings: Readonly<Record<string, unknown>>): void {
  for (const name of ['keys.handover', 'keys.bot', 'control_token']) secrets.add(textOrNull(settings[name]))
  const more = settings['keys.more']
  for (const pair of Array.isArray(more) ? more : []) secrets.add(textOrNull(pair)?.replace(/:\d+$/, '') ?? null)
  for (const name of ['webhook.url', 'base_url']) secrets.addUrl(textOrNull(settings[name]))
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

type Headers = Readonly<Record<string, string>>

/** `signatureHeader` is the effective name. Signatures under earlier names are recognised by their value. */
export function maskEntry(entry: Entry, signatureHeader = ''): Entry {
  // An observed entry was masked before it came into the journal, and says whether its signature is valid.
  if ((entry.kind === 'api' || entry.kind === 'delivery') && entry.observed) return entry
  const signature = signatureHeader.toLowerCase()
  if (entry.kind === 'api') return { ...entry, ...maskCall(entry, signature) }
  if (entry.kind === 'delivery') return { ...entry, ...maskDelivery(entry, signature) }
  if (entry.kind === 'driver' || entry.kind === 'fault') {
    return isHeaders(entry.headers) ? { ...entry, headers: maskHeaders(entry.headers, signature) } : entry
  }
  return entry
}

const maskCall = ({ path, request }: ApiContent, signature: string) => ({
  path: withoutCredentials(path),
  request: { ...request, headers: maskHeaders(request.headers, signature) },
})

const maskDelivery = ({ url, request, response, sign }: DeliveryContent, signature: string) => ({
  url: url === null ? null : withoutCredentials(url),
  request: { ...request, headers: maskHeaders(request.headers, signature, sign === 'truncated' ? CUT_DIGEST : DIGEST) },
  response: response && { ...response, headers: maskHeaders(response.headers, signature) },
})

const isHeaders = (value: unknown): value is Headers => typeof value === 'object' && value !== null

function maskHeaders(headers: Headers, signature: string, digest = DIGEST): Record<string, string> {
  const masked: Record<string, string> = { ...headers }
  for (const [name, value] of Object.entries(headers))
    masked[name] = maskHeader(name.toLowerCase(), value, signature, digest)
  return masked
}

const CREDENTIALS = /^(proxy-)?authorization$/
const SECRETS = /^(set-)?cookie$|token$|api-?key$|secret/

function maskHeader(name: string, value: string, signature: string, digest: RegExp): string {
  if (CREDENTIALS.test(name)) return maskCredentials(String(value))
  if (SECRETS.test(name) || name === signature) return MASK
  const algorithm = name.includes('algorithm')
  return !algorithm && (/hmac|signature/.test(name) || digest.test(String(value))) ? MASK : value
}

/** Keeps the scheme visible, because a wrong scheme is a common mistake. */
function maskCredentials(value: string): string {
  const scheme = /^[A-Za-z]+(?= )/.exec(value)?.[0]
  return scheme === undefined ? MASK : `${scheme} ${MASK}`
}

/** Matches SHA-1, SHA-256 and SHA-512 digests in base64 and hexadecimal. */
const DIGEST = /^(?:[A-Za-z0-9+/]{27}=|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/
/** Matches a base64 digest that a fault truncated. */
const CUT_DIGEST = /^[A-Za-z0-9+/]{20,}={0,2}$/

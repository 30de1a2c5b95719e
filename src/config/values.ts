/** Values that flags, the environment and the config file share: how each is read, and what it must be. */

export const MUST = {
  port: 'must be a whole number from 0 to 65535 (0 takes any free port)',
  host: 'must be an address or host name such as 127.0.0.1',
  seed: 'must be a whole number from 0',
  clock: 'must be real or virtual',
  url: 'must be an http or https URL such as http://127.0.0.1:4747',
  httpUrl: 'must be an http or https URL such as http://127.0.0.1:3000/webhook',
  baseUrl: 'must be an http or https URL without a query, such as https://bot.example.test',
} as const

function wholeNumber(text: unknown, max: number): number | undefined {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) && value <= max ? value : undefined
}

export const readPort = (text: unknown) => wholeNumber(text, 65_535)
export const readSeed = (text: unknown) => wholeNumber(text, Number.MAX_SAFE_INTEGER)
export const readClock = (text: unknown) => (text === 'real' || text === 'virtual' ? text : undefined)
export const readHost = (text: unknown) => (typeof text === 'string' && /^[\w.:%[\]-]+$/.test(text) ? text : undefined)

export function readHttpUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\/[^/]/i.test(value)) return undefined
  return URL.canParse(value) ? value : undefined
}

export function readBaseUrl(value: unknown): string | undefined {
  const url = readHttpUrl(value)
  return url === undefined || /[?#]/.test(url) ? undefined : url
}

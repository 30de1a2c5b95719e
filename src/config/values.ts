/** Reads values that flags, the environment and the config file share. */
import { defineTexts } from '../text/texts.ts'

/** What each value must be. */
export const EXPECTED = defineTexts({
  port: 'a whole number from 0 to 65535 (0 takes any free port)',
  host: 'an address or host name such as 127.0.0.1',
  seed: 'a whole number from 0',
  clock: 'real or virtual',
  url: 'an http or https URL such as http://127.0.0.1:4747',
  httpUrl: 'an http or https URL such as http://127.0.0.1:3000/webhook',
  baseUrl: 'an http or https URL without a query, such as https://bot.example.test',
})

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

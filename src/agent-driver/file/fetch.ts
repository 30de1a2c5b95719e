/** Reads a driver file from a URL. */

import { parseSource } from '../../files/document.ts'
import { fileProblem } from '../../files/errors.ts'
import { connectionFailure } from '../../runtime/connection-failure.ts'
import { failureText } from '../../wording/delivery.ts'
import type { Ask, DriverSpec } from '../spec.ts'
import { readDriver } from './read.ts'
import { TEXTS } from './texts.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
const WITHIN_MS = 5_000
const MOST_BYTES = 1_048_576

/** Calls go to the origin of the URL by default. Such a driver runs no commands. */
export async function fetchDriver(ref: string, allowRemote: boolean, ask: Ask | null): Promise<DriverSpec> {
  if (!URL.canParse(ref)) throw fileProblem(ref, TEXTS.notUrl)
  const url = new URL(ref)
  if (!allowRemote && !LOOPBACK.test(url.hostname)) {
    throw fileProblem(ref, TEXTS.otherMachine)
  }
  const { text, json } = await read(url)
  const origin = { name: ref, folder: '.', http: url.origin, commands: false, ask, functions: {} }
  return readDriver(parseSource(ref, text, json), origin)
}

async function read(url: URL): Promise<{ text: string; json: boolean }> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(WITHIN_MS) }).catch(
    (error: unknown) => {
      throw fileProblem(url.href, TEXTS.unreadable(why(error, url.host)))
    },
  )
  if (!response.ok) throw fileProblem(url.href, TEXTS.unreadable(TEXTS.status(response.status)))
  const text = await response.text()
  if (text.length > MOST_BYTES) throw fileProblem(url.href, TEXTS.unreadable(TEXTS.tooLong))
  return { text, json: /json/i.test(response.headers.get('content-type') ?? '') || url.pathname.endsWith('.json') }
}

const why = (error: unknown, host: string) =>
  (error as Error).name === 'TimeoutError' ? TEXTS.timeout : failureText(connectionFailure(error, host))

/** Finds out how a receiver verifies that refuses valid signatures: it sends wrong ones, and the accepted one shows the mistake. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
import { toHex, utf8 } from '../../platform/signature/hmac.ts'
import {
  FIX_TEXTS,
  MISTAKE_TEXTS,
  type MistakeId,
  sentBody,
  wrongBodies,
  wrongHashes,
  wrongKeys,
} from '../../platform/signature/mistakes.ts'
import { type CheckChat, openChat } from './chat.ts'
import type { CheckContext, EventAnswer } from './context.ts'
import { bodyOf, changeSignature, EVENT, signatureOf } from './sent-bodies.ts'

/** A wrong request that a receiver accepts, which shows how it verifies. */
export interface AcceptedVariant {
  /** A mistake of `explain`, or another difference of the request. */
  readonly code: MistakeId | 'compact-ascii' | 'header-name'
  /** Empty, or completes the text of the mistake. */
  readonly detail: string
}

export interface Diagnosis {
  readonly accepts: AcceptedVariant | null
  readonly entries: readonly EventAnswer[]
  /** How many were sent. */
  readonly probes: number
}

/** For a refusal that no probe explains. */
export const LOG_BOTH =
  'Log the raw body and the header of this request, and pass both to "handover-sim verify", which names the mistake.'

export function acceptedText({ code, detail }: AcceptedVariant): string {
  if (code === 'compact-ascii')
    return 'It accepts the same event as compact JSON in ASCII: the form of the JSON decides, so the raw body is not what it verifies.'
  if (code === 'header-name')
    return 'It accepts the same event when the names of the headers are in lower case: it looks for another case.'
  const mistake = MISTAKE_TEXTS[code]
  const sentence = mistake.charAt(0).toLowerCase() + mistake.slice(1)
  return `It accepts an event with this mistake: ${sentence}${detail === '' ? '' : ` (${detail})`}.`
}

/** How to fix what the accepted variant shows. */
export function fixOf({ code }: AcceptedVariant): string {
  if (code === 'compact-ascii') return FIX_TEXTS['restringified-json']
  return FIX_TEXTS[code === 'header-name' ? 'missing-header' : code]
}

interface WrongSignature extends AcceptedVariant {
  readonly signature: string
}

/** How many probes of each mistake are sent at most. */
type Counts = { readonly [Id in MistakeId]?: number }

/** Of one diagnosis. */
const MAX_PROBES = 20

/** Looks for a mistake with the key, the hash, the encoding or the header, by an event with this compact ASCII body. */
export async function diagnoseEveryForm(check: CheckContext): Promise<Diagnosis> {
  const { apiKey, botApiKey, botId } = check.sim
  const chat = await openChat(check, 'diagnosis')
  const bot = { bot: { id: botId, name: 'Bot' } }
  const body = bodyOf(check, chat, bot, 'compact')

  const right = await signatureOf(apiKey, body)
  const hex = toHex(Uint8Array.from(atob(right), char => char.charCodeAt(0)))
  const wrong: WrongSignature[] = [
    { code: 'hex', detail: '', signature: hex },
    { code: 'prefix', detail: 'sha256= and hexadecimal', signature: `sha256=${hex}` },
    { code: 'doubled', detail: 'base64 of the hexadecimal text', signature: btoa(hex) },
    { code: 'unpadded', detail: '', signature: right.replace(/=+$/, '') },
  ]
  const keyCounts = { 'other-key': 1, 'key-whitespace': 1, 'key-prefix': 1, 'key-encoding': 1, 'key-unset': 2 }
  const keys = wrongKeys(apiKey, { 'the bot API key': botApiKey })
  for (const { id, detail, value: key } of atMost(keyCounts, keys, apiKey))
    wrong.push({ code: id, detail, signature: await signatureOf(key, body) })

  const hashCounts = { 'other-algorithm': 2, 'plain-hash': 1, swapped: 1 }
  for (const { id, detail, value: hash } of atMost(hashCounts, wrongHashes())) {
    const bytes = await hash(apiKey, utf8(body))
    wrong.push({ code: id, detail, signature: btoa(String.fromCharCode(...bytes)) })
  }
  const otherForms = { spaced: "as Python's json.dumps writes it", slashes: 'as json_encode of PHP writes it' } as const
  for (const form of ['spaced', 'slashes'] as const) {
    const signature = await signatureOf(apiKey, bodyOf(check, chat, bot, form))
    wrong.push({ code: 'restringified-json', detail: otherForms[form], signature })
  }
  wrong.push(...(await signOtherBodies(apiKey, body, { 'empty-body': 1, 'stringified-object': 1 })))

  const asCompactAscii: Probe = { variant: { code: 'compact-ascii', detail: '' }, headers: signed => signed }
  const withLowerCaseNames: Probe = {
    variant: { code: 'header-name', detail: '' },
    headers: signed => Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value])),
  }
  return sendProbes(check, chat, body, [asCompactAscii, withLowerCaseNames, ...probesOf(check, wrong)])
}

/** Looks for a change of the body before it is verified, by an event with this body. */
export async function diagnoseBody(check: CheckContext, chat: CheckChat, body: string): Promise<Diagnosis> {
  const counts = { newline: 3, latin1: 4, ascii: 4, 'restringified-json': 9 }
  const wrong = await signOtherBodies(check.sim.apiKey, body, counts)
  return sendProbes(check, chat, body, probesOf(check, wrong))
}

async function signOtherBodies(key: string, body: string, counts: Counts): Promise<WrongSignature[]> {
  const wrong: WrongSignature[] = []
  for (const { id, detail, value } of atMost(counts, wrongBodies(sentBody(utf8(body), null)), body))
    wrong.push({ code: id, detail, signature: await signatureOf(key, value) })
  return wrong
}

/** At most so many of each mistake, without those that give the right value. */
function* atMost<Candidate extends { readonly id: MistakeId; readonly value: unknown }>(
  counts: Counts,
  candidates: Iterable<Candidate>,
  right?: unknown,
): Generator<Candidate> {
  const left: Record<string, number> = { ...counts }
  for (const candidate of candidates) {
    const count = left[candidate.id] ?? 0
    if (count === 0 || candidate.value === right) continue
    left[candidate.id] = count - 1
    yield candidate
  }
}

/** A wrong request, which a receiver with this mistake accepts. */
interface Probe {
  readonly variant: AcceptedVariant
  headers(signed: HeaderLines): HeaderLines
}

/** Each signature once. */
function probesOf(check: CheckContext, wrong: readonly WrongSignature[]): Probe[] {
  const probes = new Map<string, Probe>()
  for (const { code, detail, signature } of wrong)
    if (!probes.has(signature))
      probes.set(signature, { variant: { code, detail }, headers: changeSignature(check, () => signature) })
  return [...probes.values()]
}

async function sendProbes(
  check: CheckContext,
  chat: CheckChat,
  body: string,
  all: readonly Probe[],
): Promise<Diagnosis> {
  const probes = all.slice(0, MAX_PROBES)
  const send = ({ headers }: Probe) => check.send({ event: EVENT, chat, alteration: { body, headers } })
  const answers = await Promise.all(probes.map(send))
  for (const [at, answer] of answers.entries())
    if (answer.status !== null && answer.status < 300)
      return { accepts: probes[at]!.variant, entries: [answer], probes: probes.length }
  return { accepts: null, entries: [], probes: probes.length }
}

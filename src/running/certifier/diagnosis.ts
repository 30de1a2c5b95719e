/** Finds out how a receiver verifies that refuses valid signatures: it sends wrong ones, and the accepted one shows the mistake. */

import type { HeaderLines } from '../../base/runtime/transport.ts'
import type { DeliveryEntry } from '../../evaluation/history.ts'
import {
  OTHER_HEADERS,
  type ProbeCode,
  type ProbeCounts,
  probeText,
  type WrongSignature,
  withOtherHeader,
  wrongSignatures,
} from '../../platform/webhooks/signature-probes.ts'
import { type CheckChat, openChat } from './chat.ts'
import type { CheckContext } from './context.ts'
import { bodyOf, changeSignature, EVENT } from './sent-bodies.ts'

/** A wrong request that a receiver accepts, which shows how it verifies. */
export interface AcceptedVariant {
  readonly code: ProbeCode
  /** Empty, or completes the text of the mistake. */
  readonly detail: string
}

export interface Diagnosis {
  readonly accepts: AcceptedVariant | null
  readonly entries: readonly DeliveryEntry[]
  /** How many were sent. */
  readonly probes: number
}

/** For a refusal that no probe explains. */
export const LOG_BOTH =
  'Log the raw body and the header of this request, and pass both to "npx handover-sim verify", which names the mistake.'

export const acceptedText = (variant: AcceptedVariant): string => `It ${probeText(variant)}.`

/** Of one diagnosis. */
const MAX_PROBES = 28

/** Looks for a mistake with the key, the hash, the encoding or the header, by an event with a compact ASCII body. */
export async function diagnoseEveryForm(check: CheckContext, refused: DeliveryEntry): Promise<Diagnosis> {
  const { apiKey, botApiKey, botId } = check.sim
  const chat = await openChat(check, 'diagnosis')
  const body = bodyOf(check, chat, { bot: { id: botId, name: 'Bot' } }, 'compact')
  const wrong = await wrongSignatures(
    body,
    apiKey,
    { 'the bot API key': botApiKey },
    {
      ...{ hex: 1, prefix: 1, doubled: 1, unpadded: 1 },
      ...{ 'other-key': 1, 'key-whitespace': 1, 'key-prefix': 1, 'key-encoding': 1, 'key-unset': 2 },
      ...{ 'other-algorithm': 2, 'plain-hash': 1, swapped: 1 },
      ...{ 'restringified-json': 2, 'empty-body': 1, 'stringified-object': 1 },
    },
  )
  const asCompactAscii: Probe = { variant: { code: 'compact-ascii', detail: '' }, headers: signed => signed }
  const withLowerCaseNames: Probe = {
    variant: { code: 'header-name', detail: '' },
    headers: signed => Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value])),
  }
  const name = check.core.platform.knobs['webhook.signatureHeader']
  const underOtherNames: Probe[] = OTHER_HEADERS.map(other => ({
    variant: { code: 'other-header', detail: other },
    headers: signed => withOtherHeader(signed, name, other),
  }))
  const probes = [asCompactAscii, withLowerCaseNames, ...underOtherNames, ...probesOf(check, wrong)]
  return sendProbes(check, chat, body, probes, refused)
}

/** Looks for a change of the body before it is verified, by an event with this body. */
export async function diagnoseBody(
  check: CheckContext,
  chat: CheckChat,
  body: string,
  refused: DeliveryEntry,
): Promise<Diagnosis> {
  const counts: ProbeCounts = { newline: 3, latin1: 4, ascii: 4, 'restringified-json': 9 }
  const probes = probesOf(check, await wrongSignatures(body, check.sim.apiKey, {}, counts))
  return sendProbes(check, chat, body, probes, refused)
}

/** A wrong request, which a receiver with this mistake accepts. */
interface Probe {
  readonly variant: AcceptedVariant
  headers(signed: HeaderLines): HeaderLines
}

const probesOf = (check: CheckContext, wrong: readonly WrongSignature[]): Probe[] =>
  wrong.map(({ code, detail, signature }) => ({
    variant: { code, detail },
    headers: changeSignature(check, () => signature),
  }))

async function sendProbes(
  check: CheckContext,
  chat: CheckChat,
  body: string,
  all: readonly Probe[],
  refused: DeliveryEntry,
): Promise<Diagnosis> {
  const probes = all.slice(0, MAX_PROBES)
  const send = ({ variant, headers }: Probe) =>
    check.send({ event: EVENT, chat, alteration: { body, headers }, probe: { of: refused.delivery_id, ...variant } })
  const answers = await Promise.all(probes.map(send))
  for (const [at, answer] of answers.entries())
    if (answer.status !== null && answer.status < 300)
      return { accepts: probes[at]!.variant, entries: [answer], probes: probes.length }
  return { accepts: null, entries: [], probes: probes.length }
}

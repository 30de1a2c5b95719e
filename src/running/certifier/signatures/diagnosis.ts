/** Finds out how a receiver verifies that refuses valid signatures: it sends wrong ones, and the one that is accepted tells. */
import type { HeaderLines } from '../../../base/runtime/transport.ts'
import { type Bytes, toHex, utf8 } from '../../../platform/signature/hmac.ts'
import { type MistakeId, sentBody, wrongBodies, wrongHashes, wrongKeys } from '../../../platform/signature/mistakes.ts'
import type { CheckChat } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import type { AcceptedVariant } from '../findings/signature-diagnosis.ts'
import { bodyOf, changeSignature, EVENT, signatureOf } from './sent-bodies.ts'

/** A wrong request, which a receiver with this mistake accepts. */
interface Probe {
  readonly variant: AcceptedVariant
  headers(signed: HeaderLines): HeaderLines
}

/** Of one diagnosis. */
const MAX_PROBES = 20

export interface Diagnosis {
  readonly accepts: AcceptedVariant | null
  readonly entries: readonly EventAnswer[]
  /** How many were sent. */
  readonly probes: number
}

/** Looks for a mistake with the key, the hash, the encoding or the header, by an event with this compact ASCII body. */
export async function diagnoseEveryForm(check: CheckContext): Promise<Diagnosis> {
  const chat = await check.chat('diagnosis')
  const body = bodyOf(check, chat, { bot: { id: check.sim.botId, name: 'Bot' } }, 'compact')
  const signatures = [
    ...(await otherEncodings(check, body)),
    ...(await otherKeys(check, body)),
    ...(await otherHashes(check, body)),
    ...(await otherForms(check, chat)),
    ...(await otherBodies(check, body, { 'empty-body': 1, 'stringified-object': 1 })),
  ]
  return firstAccepted(check, chat, body, [...REQUEST_PROBES, ...probesOf(check, signatures)])
}

/** Looks for a change of the body before it is verified, by an event with this body. */
export async function diagnoseBody(check: CheckContext, chat: CheckChat, body: string): Promise<Diagnosis> {
  const counts = { newline: 3, latin1: 4, ascii: 4, 'restringified-json': 9 }
  return firstAccepted(check, chat, body, probesOf(check, await otherBodies(check, body, counts)))
}

interface WrongSignature extends AcceptedVariant {
  readonly signature: string
}

type Counts = { readonly [Id in MistakeId]?: number }

/** At most so many of each mistake, without those that give the right value. */
function selected<Value>(
  candidates: Iterable<{ readonly id: MistakeId; readonly detail: string; readonly value: Value }>,
  counts: Counts,
  isRight: (value: Value) => boolean,
) {
  const left: Record<string, number> = { ...counts }
  return [...candidates].filter(({ id, value }) => {
    if (!left[id] || isRight(value)) return false
    left[id]--
    return true
  })
}

async function otherEncodings(check: CheckContext, body: string): Promise<WrongSignature[]> {
  const right = await signatureOf(check.sim.apiKey, body)
  const mac = Uint8Array.from(atob(right), char => char.charCodeAt(0))
  const hex = toHex(mac)
  return [
    { code: 'hex', detail: '', signature: hex },
    { code: 'prefix', detail: 'sha256= and hexadecimal', signature: `sha256=${hex}` },
    { code: 'doubled', detail: 'base64 of the hexadecimal text', signature: btoa(hex) },
    { code: 'unpadded', detail: '', signature: right.replace(/=+$/, '') },
  ]
}

async function otherKeys({ sim }: CheckContext, body: string): Promise<WrongSignature[]> {
  const counts = { 'other-key': 1, 'key-whitespace': 1, 'key-prefix': 1, 'key-encoding': 1, 'key-unset': 2 }
  const candidates = wrongKeys(sim.apiKey, { 'the bot API key': sim.botApiKey })
  const keys = selected(candidates, counts, key => key === sim.apiKey)
  const signed = keys.map(async ({ id, detail, value }) => ({
    code: id,
    detail,
    signature: await signatureOf(value, body),
  }))
  return Promise.all(signed)
}

async function otherHashes({ sim }: CheckContext, body: string): Promise<WrongSignature[]> {
  const counts = { 'other-algorithm': 2, 'plain-hash': 1, swapped: 1 }
  const hashes = selected(wrongHashes(), counts, () => false)
  const signed = hashes.map(async ({ id, detail, value: hash }) => ({
    code: id,
    detail,
    signature: base64Of(await hash(sim.apiKey, utf8(body))),
  }))
  return Promise.all(signed)
}

const base64Of = (bytes: Bytes) => btoa(String.fromCharCode(...bytes))

/** The JSON as other programs write it: of Python and of PHP. */
async function otherForms(check: CheckContext, chat: CheckChat): Promise<WrongSignature[]> {
  const forms = { spaced: "as Python's json.dumps writes it", slashes: 'as json_encode of PHP writes it' } as const
  const changes = { bot: { id: check.sim.botId, name: 'Bot' } }
  const signed = (['spaced', 'slashes'] as const).map(async form => ({
    code: 'restringified-json' as const,
    detail: forms[form],
    signature: await signatureOf(check.sim.apiKey, bodyOf(check, chat, changes, form)),
  }))
  return Promise.all(signed)
}

async function otherBodies({ sim }: CheckContext, body: string, counts: Counts): Promise<WrongSignature[]> {
  const bodies = selected(wrongBodies(sentBody(utf8(body), null)), counts, value => value === body)
  const signed = bodies.map(async ({ id, detail, value }) => ({
    code: id,
    detail,
    signature: await signatureOf(sim.apiKey, value),
  }))
  return Promise.all(signed)
}

/** Without a mistake in the signature. */
const REQUEST_PROBES: readonly Probe[] = [
  { variant: { code: 'compact-ascii', detail: '' }, headers: signed => signed },
  { variant: { code: 'header-name', detail: '' }, headers: inLowerCase },
]

function inLowerCase(signed: HeaderLines): HeaderLines {
  return Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Each signature once. */
function probesOf(check: CheckContext, wrong: readonly WrongSignature[]): Probe[] {
  const unique = wrong.filter((one, at) => wrong.findIndex(({ signature }) => signature === one.signature) === at)
  return unique.map(({ code, detail, signature }) => ({
    variant: { code, detail },
    headers: changeSignature(check, () => signature),
  }))
}

async function firstAccepted(check: CheckContext, chat: CheckChat, body: string, all: readonly Probe[]) {
  const probes = all.slice(0, MAX_PROBES)
  const send = ({ headers }: Probe) => check.send({ event: EVENT, chat, alteration: { body, headers } })
  const answers = await Promise.all(probes.map(send))
  const at = answers.findIndex(({ status }) => status !== null && status < 300)
  const accepts = probes[at]?.variant ?? null
  return { accepts, entries: answers.slice(at, at + (at < 0 ? 0 : 1)), probes: probes.length }
}

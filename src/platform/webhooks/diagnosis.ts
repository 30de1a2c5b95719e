/**
 * Finds out why a webhook refused an event: reads what the journal shows, and sends events with the signatures of usual
 * mistakes. The one that the webhook accepts shows its mistake. None of them has an effect on a help desk.
 */

import { isSuccess } from '../../base/http-status.ts'
import type { HeaderLines } from '../../base/runtime/transport.ts'
import { cut } from '../../base/text/cut.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { DeliveryContent, Entry, EntryOf } from '../journal/entry.ts'
import { MASK } from '../journal/mask.ts'
import { explain } from '../signature/explain.ts'
import { failureText } from '../wording/failures.ts'
import { deliveryHint, isInvalidSign } from '../wording/hints.ts'
import type { Dispatcher } from './dispatcher.ts'
import { evidenceFor, evidenceText, type RefusalEvidence } from './refusal-evidence.ts'
import { encodePayload, signingHeaders } from './request.ts'
import {
  computeSignature,
  OTHER_HEADERS,
  type ProbeCode,
  type ProbeCounts,
  probeFix,
  probeText,
  withOtherHeader,
  wrongSignatures,
} from './signature-probes.ts'

type Delivery = EntryOf<'delivery'>

export interface DiagnosisPorts {
  readonly entries: readonly Entry[]
  readonly dispatcher: Pick<Dispatcher, 'trigger'>
  readonly knobs: Knobs
  /** Signs the events of the chat. */
  readonly key: string
  /** Keys that the service may use by mistake, by names that messages can show. */
  readonly otherKeys: Readonly<Record<string, string>>
}

/** An event that was sent to try one mistake. */
export interface ProbeResult {
  readonly seq: number
  /** The mistake; `valid`: a valid signature; `none`: no signature. */
  readonly code: ProbeCode | 'valid' | 'none'
  readonly text: string
  readonly status: number | null
  readonly accepted: boolean
}

/** Why there is no mistake in the signature to find, or none was found. */
export type DiagnosisCode =
  | ProbeCode
  /** The event was accepted. */
  | 'accepted'
  /** Its signature, or its body, was wrong on purpose. */
  | 'wrong_on_purpose'
  /** It was not sent, or no answer came: `failure` of the delivery has the code. */
  | 'no_answer'
  /** Answered with a status that no signature causes: a redirect, 404, 405, 410. */
  | 'address'
  | 'signature_off'
  /** A valid signature is accepted now. */
  | 'not_signature'
  /** Events without a signature are accepted, so that nothing can be tried. */
  | 'unsigned_accepted'
  /** It accepted events before, and no usual mistake explains the refusal. */
  | 'key_or_code_changed'
  /** It answers with a status of 500 or more to every signature. */
  | 'service_failed'
  | 'unknown'

export interface RefusalDiagnosis {
  readonly code: DiagnosisCode
  /** One sentence. */
  readonly text: string
  readonly fix: string | null
  /** `seq` of the entry that shows it. */
  readonly shownBy: number | null
  /** What the journal shows without any trial, in sentences. */
  readonly facts: readonly string[]
  readonly probes: readonly ProbeResult[]
}

/** The event of the probes: a help desk does nothing with it. */
const PROBE_EVENT = 'AGENT TYPING STOP'
const STATUSES_OF_ADDRESSES = [404, 405, 410]

/** `entry`: the latest attempt of a delivery. Null when the simulator is reset meanwhile. */
export async function diagnoseDelivery(ports: DiagnosisPorts, entry: Delivery): Promise<RefusalDiagnosis | null> {
  const { failure, status } = entry
  const hint = deliveryHint(entry)?.text ?? null
  const withoutProbes = (code: DiagnosisCode, text: string, fix: string | null = hint): RefusalDiagnosis => ({
    ...{ code, text, fix },
    shownBy: entry.seq,
    facts: [],
    probes: [],
  })
  if (isSuccess(entry.status) && failure === undefined)
    return withoutProbes('accepted', `Your service accepted this event: it answered ${status}.`, null)
  if (isInvalidSign(entry.sign) || entry.probe !== undefined)
    return withoutProbes(
      'wrong_on_purpose',
      'Your service is right to refuse this event: its signature is wrong on purpose.',
      null,
    )
  if (status === null) return withoutProbes('no_answer', `Your service did not answer: ${failureText(failure)}.`)
  if ((status >= 300 && status < 400) || STATUSES_OF_ADDRESSES.includes(status))
    return withoutProbes('address', `The address of the webhook is wrong, or takes no POST: it answered ${status}.`)
  if (ports.knobs['webhook.signature'] === 'off')
    return withoutProbes(
      'signature_off',
      'Events have no signature, because the knob webhook.signature is off.',
      'Set webhook.signature to base64, as on the platform.',
    )

  const evidence = evidenceFor(entry, ports.entries)
  const facts = evidence.map(evidenceText)
  const computed = await digestInResponse(ports, entry)
  const probes = createProbes(ports, entry)
  const [valid, unsigned] = await Promise.all([probes.sendValid(), probes.sendUnsigned()])
  if (valid === null || unsigned === null) return null
  const decided = decidedBy(entry, valid, unsigned)
  if (decided !== null) return { ...decided, facts, probes: [valid, unsigned] }

  const wrongProbes = await probes.sendWrong()
  if (wrongProbes === null) return null
  const results = [valid, unsigned, ...wrongProbes]
  const accepted = wrongProbes.find(probe => probe.accepted)
  if (accepted !== undefined) {
    const code = accepted.code as ProbeCode
    const text = `Your service ${accepted.text}: #${accepted.seq} shows it.`
    return { code, text, fix: probeFix(code), shownBy: accepted.seq, facts, probes: results }
  }
  if (computed !== null) return { ...computed, shownBy: entry.seq, facts, probes: results }
  return { ...unexplained(entry, evidence, results.length), shownBy: entry.seq, facts, probes: results }
}

/** What a valid and an unsigned event decide; null when the valid one is refused as the event was. */
function decidedBy(entry: Delivery, valid: ProbeResult, unsigned: ProbeResult) {
  if (valid.accepted && unsigned.accepted)
    return {
      code: 'unsigned_accepted',
      text: `Your service accepts ${PROBE_EVENT} without a signature: #${unsigned.seq} shows it, so no event without effect can show how it verifies.`,
      fix: 'Verify the signature before anything else is done with an event, and answer 401 when it does not match (A4). Then diagnose again.',
      shownBy: unsigned.seq,
    } as const
  if (valid.accepted)
    return {
      code: 'not_signature',
      text: `Your service accepts a valid signature of the same content: #${valid.seq} shows it, so the signature is not the reason.`,
      fix: `Send the event again: when it is accepted now, your service has changed since. Otherwise look for what your service demands of ${entry.event} beside the signature.`,
      shownBy: valid.seq,
    } as const
  if (valid.status !== unsigned.status && !unsigned.accepted && unsigned.status !== null)
    return {
      code: 'not_signature',
      text: `Your service answers ${valid.status ?? 'nothing'} to a valid signature and ${unsigned.status} to a missing one: #${valid.seq} and #${unsigned.seq} show that the signature is not the reason.`,
      fix: 'Its log has the reason: look for an exception, or for a check of the content, after the signature was verified.',
      shownBy: valid.seq,
    } as const
  return null
}

const MAX_RESPONSE_CHARS = 200

function unexplained({ status, response }: Delivery, evidence: readonly RefusalEvidence[], probes: number) {
  if (status !== null && status >= 500) {
    const body = cut(response?.body.trim() ?? '', MAX_RESPONSE_CHARS)
    return {
      code: 'service_failed',
      text: `Your service failed: it answered ${status}${body === '' ? '' : `: ${body}`}, also to all of ${probes} other signatures.`,
      fix: 'Read its log: an exception ends the request before, or while, the signature is verified.',
    } as const
  }
  const changed = evidence.find(({ code }) => code === 'settings_changed' || code === 'refused_since')
  const fix =
    'Log the raw body and the signature that your code computes for this event, and paste the signature here, or pass both to "npx handover-sim verify".'
  if (changed !== undefined)
    return {
      code: 'key_or_code_changed',
      text: `${evidenceText(changed)} None of ${probes} trials is accepted, so it probably has another key since then.`,
      fix: `Compare the key of your service with the one of this simulator, and what was changed since then. ${fix}`,
    } as const
  return {
    code: 'unknown',
    text: `None of ${probes} trials is accepted: no usual mistake explains why your service refuses this event.`,
    fix: `Compare the key of your service with the one of this simulator, and look whether your code finds the header. ${fix}`,
  } as const
}

/** Explains what the code of the service computed as the signature of this delivery. */
export async function explainPasted(
  { key, otherKeys }: DiagnosisPorts,
  { request, url }: Delivery,
  pasted: string,
): Promise<Pick<RefusalDiagnosis, 'code' | 'text' | 'fix'>> {
  const { ok, mistake, message, fix } = await explain(request.body, pasted, key, { otherKeys, ...(url && { url }) })
  if (!ok) return { code: mistake, text: message, fix }
  return {
    code: 'right',
    text: 'This is the right signature of the delivery, so your code computes it correctly.',
    fix: 'Look at the comparison: log what your code reads from the header beside what it computed.',
  }
}

const DIGESTS = /(?<![\w+/=])(?:[0-9a-f]{64}|[A-Za-z0-9+/]{43}=)(?![\w+/=])/gi
const MAX_DIGESTS = 4

/** Explains a digest in the answer of the service, which often is what its code has computed; null when nothing is found. */
async function digestInResponse({ key, otherKeys }: DiagnosisPorts, { request, response, url }: Delivery) {
  const digests = new Set(response?.body.match(DIGESTS) ?? [])
  for (const digest of [...digests].slice(0, MAX_DIGESTS)) {
    const { ok, mistake, message, fix } = await explain(request.body, digest, key, { otherKeys, ...(url && { url }) })
    if (ok || mistake === 'unknown') continue
    return { code: mistake, text: `The answer of your service has what it computed: ${message}`, fix }
  }
  return null
}

/** With the valid and the unsigned event, and those with other headers, 28 at most. */
const COUNTS: ProbeCounts = {
  ...{ 'restringified-json': 3, 'other-key': 3, 'key-whitespace': 1, 'key-unset': 1, hex: 1, prefix: 1 },
  ...{ 'empty-body': 1, 'stringified-object': 1, newline: 1, latin1: 1, 'other-algorithm': 1, 'plain-hash': 1 },
}
const MAX_PROBES = 28

function createProbes({ dispatcher, knobs, key, otherKeys }: DiagnosisPorts, entry: Delivery) {
  const form = knobs['webhook.json']
  // The content of the refused event is inside, because a mistake may depend on its characters or its length.
  const payload = { event: PROBE_EVENT, chat_id: entry.chat_id ?? '', refused_event: jsonOrText(entry.request.body) }
  const body = encodePayload(payload, form)
  const name = knobs['webhook.signatureHeader']
  type Sent = Omit<ProbeResult, 'seq' | 'status' | 'accepted'> & { readonly detail?: string }

  async function send(
    { code, text, detail = '' }: Sent,
    headers: (signed: HeaderLines) => HeaderLines = signed => signed,
    sent = body,
  ): Promise<ProbeResult | null> {
    const probe: NonNullable<DeliveryContent['probe']> = { of: entry.delivery_id, code, detail }
    const alteration = { body: sent, headers }
    const sign = code === 'none' ? 'none' : 'valid'
    const delivery = await dispatcher.trigger({
      chatId: entry.chat_id,
      event: PROBE_EVENT,
      payload,
      sign,
      alteration,
      probe,
    })
    return delivery && { seq: delivery.seq, code, text, status: delivery.status, accepted: isSuccess(delivery.status) }
  }

  return {
    sendValid: () => send({ code: 'valid', text: 'verifies a valid signature' }),
    sendUnsigned: () => send({ code: 'none', text: 'accepts events without a signature' }),
    /** All at once; null after a reset. */
    async sendWrong(): Promise<ProbeResult[] | null> {
      const lowerCase = (signed: HeaderLines) =>
        Object.fromEntries(Object.entries(signed).map(([header, value]) => [header.toLowerCase(), value]))
      type Probe = { code: ProbeCode; detail?: string; headers?: (signed: HeaderLines) => HeaderLines; sent?: string }
      const probes: Probe[] = [{ code: 'header-name', headers: lowerCase }]
      for (const header of OTHER_HEADERS)
        probes.push({ code: 'other-header', detail: header, headers: signed => withOtherHeader(signed, name, header) })
      const ascii = encodePayload(payload, 'ascii')
      if (ascii !== body) probes.push({ code: 'compact-ascii', sent: ascii })
      const standard = await computeSignature(key, body)
      if (signingHeaders(key, body, entry.url ?? '', knobs)[name] !== standard)
        probes.push({ code: 'right', headers: signed => ({ ...signed, [name]: standard }) })
      const wrong = await wrongSignatures(body, key, otherKeys, COUNTS)
      const sends = wrong.slice(0, MAX_PROBES - 2 - probes.length).map(({ code, detail, signature }) => {
        const text = probeText({ code, detail })
        return send({ code, detail, text }, signed => ({ ...signed, [name]: signature }))
      })
      for (const { code, detail = '', headers, sent } of probes)
        sends.push(send({ code, detail, text: probeText({ code, detail }) }, headers, sent))
      const results = await Promise.all(sends)
      return results.every(result => result !== null) ? results : null
    },
  }
}

function jsonOrText(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** The signature of a delivery as it was sent; null when it had none, or came from a snapshot without signatures. */
export function signatureSent({ request }: Delivery, knobs: Knobs): { header: string; value: string } | null {
  const name = knobs['webhook.signatureHeader']
  for (const [header, value] of Object.entries(request.headers))
    if (header.toLowerCase() === name.toLowerCase() && value !== MASK) return { header, value }
  return null
}

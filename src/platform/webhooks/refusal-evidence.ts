/** Says what the journal shows about a webhook that refuses signatures: what it accepted, and what the refused events share. */

import { isSuccess } from '../../base/http-status.ts'
import { counted } from '../../base/text/quantities.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { isInvalidSign, isTruncated } from '../wording/hints.ts'

type Delivery = EntryOf<'delivery'>

/** Characters that many programs write in another way when they serialize JSON again. */
const CHARACTERS = {
  letters: { pattern: /[\u0080-\uffff]/, text: 'letters beyond ASCII' },
  html: { pattern: /[<>&\u2028\u2029]/, text: '< > or &' },
  slashes: { pattern: /\//, text: 'slashes' },
} as const

/** What the journal shows, as a code with parameters. */
export type RefusalEvidence =
  /** It accepted events until these settings were changed. */
  | { readonly code: 'settings_changed'; readonly seq: number; readonly names: readonly string[] }
  /** All that it accepted came before all that it refused. */
  | { readonly code: 'refused_since'; readonly accepted_seq: number; readonly refused_seq: number }
  /** It refuses the events of this bot and accepts those of others. */
  | { readonly code: 'bot'; readonly bot_id: number }
  /** It refuses exactly the bodies with such characters. */
  | {
      readonly code: 'characters'
      readonly characters: keyof typeof CHARACTERS
      readonly refused: number
      readonly accepted: number
    }
  /** It refuses only bodies that are longer than all it accepts. */
  | { readonly code: 'longer'; readonly refused_from: number; readonly accepted_to: number }
  | { readonly code: 'some_refused'; readonly refused: number; readonly accepted: number }
  | { readonly code: 'all_refused'; readonly refused: number }

/** Of a correctly signed event that its webhook refused. `entries`: the journal up to the moment in question. */
export function evidenceFor(entry: Delivery, entries: readonly Entry[]): RefusalEvidence[] {
  const refused: Delivery[] = []
  const accepted: Delivery[] = []
  for (const delivery of entries) {
    if (delivery.kind !== 'delivery' || delivery.url !== entry.url || !isComparable(delivery)) continue
    if (delivery === entry || delivery.seq === entry.seq || isRefused(delivery)) refused.push(delivery)
    else if (isSuccess(delivery.status)) accepted.push(delivery)
  }
  if (accepted.length === 0) return [{ code: 'all_refused', refused: Math.max(1, refused.length) }]
  const evidence = [
    settingsChanged(refused, accepted, entries) ?? refusedSince(refused, accepted),
    ofOneBot(refused, accepted, entries),
    byCharacters(refused, accepted),
    byLength(refused, accepted),
  ].filter(item => item !== null)
  return evidence.length > 0 ? evidence : [{ code: 'some_refused', refused: refused.length, accepted: accepted.length }]
}

/** Whether the event has a valid signature of the whole body, made when it was sent. */
export const isComparable = (entry: Delivery): boolean =>
  entry.probe === undefined &&
  !isInvalidSign(entry.sign) &&
  !isTruncated(entry) &&
  (entry.resent !== true || entry.triggered === true)
const isRefused = ({ status }: Delivery) => status === 401 || status === 403

type Partition = readonly [refused: readonly Delivery[], accepted: readonly Delivery[]]

const DECIDING = [
  'keys.handover',
  'keys.more',
  'webhook.signature',
  'webhook.signatureHeader',
  'webhook.algorithm',
  'webhook.signedContent',
  'webhook.json',
]

/** The first change of a deciding setting after which nothing was accepted, and before which nothing was refused. */
function settingsChanged(...[refused, accepted, entries]: [...Partition, readonly Entry[]]): RefusalEvidence | null {
  const first = Math.min(...refused.map(({ seq }) => seq))
  const last = Math.max(...accepted.map(({ seq }) => seq))
  for (const entry of entries) {
    if (entry.kind !== 'note' || entry.note !== 'config' || entry.seq < last || entry.seq > first) continue
    const names = Object.keys(entry.changed ?? {}).filter(name => DECIDING.includes(name))
    if (names.length > 0) return { code: 'settings_changed', seq: entry.seq, names }
  }
  return null
}

function refusedSince(...[refused, accepted]: Partition): RefusalEvidence | null {
  const accepted_seq = Math.max(...accepted.map(({ seq }) => seq))
  const refused_seq = Math.min(...refused.map(({ seq }) => seq))
  return accepted_seq < refused_seq ? { code: 'refused_since', accepted_seq, refused_seq } : null
}

function ofOneBot(...[refused, accepted, entries]: [...Partition, readonly Entry[]]): RefusalEvidence | null {
  const bots = new Map<string, number>()
  for (const entry of entries)
    if (entry.kind === 'note' && entry.note === 'chat_created' && typeof entry.bot_id === 'number')
      bots.set(entry.chat_id ?? '', entry.bot_id)
  const botOf = ({ chat_id }: Delivery) => bots.get(chat_id ?? '')
  const [bot_id, ...otherIds] = new Set(refused.map(botOf))
  if (bot_id === undefined || otherIds.length > 0 || accepted.some(delivery => botOf(delivery) === bot_id)) return null
  return { code: 'bot', bot_id }
}

function byCharacters(...[refused, accepted]: Partition): RefusalEvidence | null {
  for (const [name, { pattern }] of Object.entries(CHARACTERS)) {
    const has = ({ request }: Delivery) => pattern.test(request.body)
    if (!refused.every(has) || accepted.some(has)) continue
    const characters = name as keyof typeof CHARACTERS
    return { code: 'characters', characters, refused: refused.length, accepted: accepted.length }
  }
  return null
}

/** Less of a difference says nothing. */
const MUCH_LONGER = 2

function byLength(...[refused, accepted]: Partition): RefusalEvidence | null {
  const refused_from = Math.min(...refused.map(({ request }) => request.body.length))
  const accepted_to = Math.max(...accepted.map(({ request }) => request.body.length))
  return refused_from >= MUCH_LONGER * accepted_to ? { code: 'longer', refused_from, accepted_to } : null
}

/** One sentence about the webhook. */
export function evidenceText(evidence: RefusalEvidence): string {
  switch (evidence.code) {
    case 'settings_changed':
      return `It accepted events until #${evidence.seq} changed ${evidence.names.join(', ')}.`
    case 'refused_since':
      return `It accepted events until #${evidence.accepted_seq}, and refuses them since #${evidence.refused_seq}.`
    case 'bot':
      return `It refuses the events of bot ${evidence.bot_id}, and accepts those of other bots.`
    case 'characters':
      return `It refuses exactly the bodies with ${CHARACTERS[evidence.characters].text}: ${evidence.refused} refused, ${evidence.accepted} accepted without them.`
    case 'longer':
      return `It refuses bodies from ${evidence.refused_from} characters on, and accepts bodies up to ${evidence.accepted_to}.`
    case 'some_refused':
      return `It refused ${counted(evidence.refused, 'event')} and accepted ${evidence.accepted}; their bodies do not show why.`
    case 'all_refused':
      return `It accepted no event so far (${evidence.refused} refused).`
  }
}

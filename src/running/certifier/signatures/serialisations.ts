/** Sends the same event in every form of JSON, each in a chat of its own, and says what the refused ones have in common. */

import { type CheckChat, openChat, reportNoAnswer } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import { controlEvent } from '../observe.ts'
import { ROTATED } from '../rotation.ts'
import { acceptedText, diagnoseBody, fixOf, LOG_BOTH } from './diagnosis.ts'
import { bodyOf, EVENT, type JsonForm } from './sent-bodies.ts'

const FORMS: readonly JsonForm[] = ROTATED['webhook.json']

/** Completes "their JSON was ...". */
const FORM_TEXTS: Readonly<Record<JsonForm, string>> = {
  compact: 'compact',
  spaced: 'spaced',
  ascii: 'ASCII with \\u escapes',
  slashes: 'written with \\/',
  pretty: 'indented',
  newline: 'followed by a newline',
  reordered: 'in another order of fields',
}

/** For the diagnosis of a refused form: those that most programs change come first. */
const DIAGNOSIS_ORDER: readonly JsonForm[] = ['pretty', 'newline', 'spaced', 'slashes', 'ascii', 'reordered', 'compact']

const REWRITTEN = 'Only what JSON.stringify writes passes: the body is parsed and written again before it is verified.'

/** What it means when exactly these forms are refused. */
const PATTERNS: readonly { readonly name: string; readonly forms: readonly JsonForm[]; readonly meaning: string }[] = [
  { name: 'every', forms: FORMS, meaning: 'No form passes, so the form is not the reason.' },
  {
    name: 'non-ascii',
    forms: ['compact', 'spaced', 'slashes', 'pretty', 'newline', 'reordered'],
    meaning:
      'Events with non-ASCII text fail and the one without it passes: the body is decoded before it is verified.',
  },
  { name: 'rewritten', forms: ['spaced', 'ascii', 'slashes', 'pretty', 'newline'], meaning: REWRITTEN },
  { name: 'rewritten', forms: ['spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'], meaning: REWRITTEN },
  {
    name: 'newline',
    forms: ['newline'],
    meaning: 'Only the body with a newline at its end fails: the body is trimmed before it is verified.',
  },
  {
    name: 'line-breaks',
    forms: ['newline', 'pretty'],
    meaning: 'Bodies with line breaks fail: the body is read by lines, or its line breaks are changed.',
  },
  {
    name: 'escapes',
    forms: ['ascii', 'slashes'],
    meaning: 'Bodies with backslashes fail: escapes are removed before the body is verified.',
  },
  {
    name: 'order',
    forms: ['reordered'],
    meaning: 'Only another order of the fields fails: fields are put in order before the body is verified.',
  },
]
const MIXED = { name: 'mixed', meaning: 'So the bytes are changed before they are verified.' }

interface SentForm {
  readonly form: JsonForm
  readonly chat: CheckChat
  readonly body: string
  readonly answer: EventAnswer
}

export async function expectEverySerialisation(check: CheckContext): Promise<void> {
  const refused: SentForm[] = []
  for (const sent of await Promise.all(FORMS.map(form => sendForm(check, form))))
    if (sent.answer.status !== 200) refused.push(sent)
  if (refused.length > 0) await reportRefused(check, refused)
  if (!refused.some(({ form }) => form === 'compact')) await controlEvent(check, false)
}

async function sendForm(check: CheckContext, form: JsonForm): Promise<SentForm> {
  const chat = await openChat(check, form)
  // The letters of the name are written as escapes in one form only.
  const body = bodyOf(check, chat, { bot: { id: check.sim.botId, name: 'Blåbær 🫐' } }, form)
  return { form, chat, body, answer: await check.send({ event: EVENT, chat, alteration: { body } }) }
}

async function reportRefused(check: CheckContext, refused: readonly SentForm[]): Promise<void> {
  const forms = new Map<JsonForm, SentForm>()
  const answers: EventAnswer[] = []
  let isAnswered = false
  for (const sent of refused) {
    forms.set(sent.form, sent)
    answers.push(sent.answer)
    if (sent.answer.status !== null) isAnswered = true
  }
  const [first] = answers
  if (first !== undefined && !isAnswered) return reportNoAnswer(check, 'MUST', first, [first])
  const clearest = DIAGNOSIS_ORDER.find(form => forms.has(form)) ?? 'compact'
  const { chat, body } = forms.get(clearest)!
  const { accepts, entries } = await diagnoseBody(check, chat, body)
  const pattern =
    PATTERNS.find(one => one.forms.length === forms.size && one.forms.every(form => forms.has(form))) ?? MIXED
  const names: Record<'refused' | 'accepted', string[]> = { refused: [], accepted: [] }
  for (const form of FORMS) names[forms.has(form) ? 'refused' : 'accepted'].push(FORM_TEXTS[form])
  const accepted = names.accepted.length === 0 ? '' : `, and accepted when it was ${names.accepted.join(', ')}`
  const variant = accepts === null ? '' : ` ${acceptedText(accepts)}`
  check.report('MUST', 'serialisation-refused', {
    happened: `Valid events were refused when their JSON was ${names.refused.join(', ')}${accepted}. ${pattern.meaning}${variant}`,
    hint:
      accepts === null
        ? `Verify the raw body. A body that is parsed, decoded or trimmed before has other bytes, and its signature differs. ${LOG_BOTH}`
        : fixOf(accepts),
    details: { ...names, pattern: pattern.name, accepts },
    entries: [...answers, ...entries],
  })
}

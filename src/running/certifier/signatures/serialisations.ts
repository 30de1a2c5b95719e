/** Sends the same event in every form of JSON, each in a chat of its own, and tells what those have in common that are refused. */
import type { CheckChat } from '../chat.ts'
import type { CheckContext, EventAnswer } from '../context.ts'
import { controlEvent } from '../effects.ts'
import type { RefusalPattern } from '../findings/signature-diagnosis.ts'
import { JSON_FORM_TEXTS } from '../findings/signature-diagnosis.ts'
import { ROTATED } from '../rotation.ts'
import { diagnoseBody } from './diagnosis.ts'
import { bodyOf, EVENT, type JsonForm } from './sent-bodies.ts'

const FORMS: readonly JsonForm[] = ROTATED['webhook.json']

/** Its letters are written as escapes in one form only. */
const BOT_NAME = 'Blåbær 🫐'

interface SentForm {
  readonly form: JsonForm
  readonly chat: CheckChat
  readonly body: string
  readonly answer: EventAnswer
}

export async function expectEverySerialisation(check: CheckContext): Promise<void> {
  const sent = await Promise.all(FORMS.map(form => sendForm(check, form)))
  const refused = sent.filter(({ answer }) => answer.status !== 200)
  if (refused.length > 0) await reportRefused(check, refused)
  const isCompactRefused = refused.some(({ form }) => form === 'compact')
  if (!isCompactRefused) await controlEvent(check, false)
}

async function sendForm(check: CheckContext, form: JsonForm): Promise<SentForm> {
  const chat = await check.chat(form)
  const body = bodyOf(check, chat, { bot: { id: check.sim.botId, name: BOT_NAME } }, form)
  return { form, chat, body, answer: await check.send({ event: EVENT, chat, alteration: { body } }) }
}

async function reportRefused(check: CheckContext, refused: readonly SentForm[]) {
  const answers = refused.map(({ answer }) => answer)
  const [first] = answers
  if (first !== undefined && answers.every(({ status }) => status === null)) {
    check.report('MUST', 'no-answer', { event: EVENT, failure: first.failure ?? null }, [first])
    return
  }
  const isRefused = new Set(refused.map(({ form }) => form))
  const { accepts, entries } = await diagnoseRefused(check, refused)
  const nameOf = (form: JsonForm) => JSON_FORM_TEXTS[form]
  const details = {
    refused: FORMS.filter(form => isRefused.has(form)).map(nameOf),
    accepted: FORMS.filter(form => !isRefused.has(form)).map(nameOf),
    pattern: patternOf(isRefused),
    accepts,
  }
  check.report('MUST', 'serialisation-refused', details, [...answers, ...entries])
}

/** The forms that most programs change come first. */
const TELLING: readonly JsonForm[] = ['pretty', 'newline', 'spaced', 'slashes', 'ascii', 'reordered', 'compact']

function diagnoseRefused(check: CheckContext, refused: readonly SentForm[]) {
  const form = TELLING.find(one => refused.some(sent => sent.form === one))
  const { chat, body } = refused.find(sent => sent.form === form)!
  return diagnoseBody(check, chat, body)
}

const PATTERNS: readonly (readonly [RefusalPattern, readonly JsonForm[]])[] = [
  ['every', FORMS],
  ['non-ascii', FORMS.filter(form => form !== 'ascii')],
  ['rewritten', FORMS.filter(form => form !== 'compact' && form !== 'reordered')],
  ['rewritten', FORMS.filter(form => form !== 'compact')],
  ['newline', ['newline']],
  ['line-breaks', ['newline', 'pretty']],
  ['escapes', ['ascii', 'slashes']],
  ['order', ['reordered']],
]

const patternOf = (refused: ReadonlySet<JsonForm>): RefusalPattern =>
  PATTERNS.find(([, forms]) => forms.length === refused.size && forms.every(form => refused.has(form)))?.[0] ?? 'mixed'

/** `waitFor`: a question of the test's own, asked until it is answered with something true. */

import type { Failure } from '../evaluator/verdict.ts'
import { waitUntil } from '../runner/waiting.ts'
import { anything, shown, validateOptions } from '../simulator/validate-options.ts'
import { checkThere, failed, overtaken, type Subject, whether } from './expectations.ts'
import { durationMs, invalid } from './options.ts'
import { shownMs, WAIT_MS } from './plan-builder.ts'
import { type Session, sessionOf } from './test-run.ts'

/** Asked again whenever something happens; resolves with what it answers as soon as that is neither false nor empty. */
export async function waitFor<Value>(
  subject: Subject,
  look: () => Value,
  options: { readonly within?: string },
  written: (...args: never[]) => unknown = look,
): Promise<NonNullable<Value>> {
  if (typeof written !== 'function') throw invalid('waitFor', `waitFor asks a function, got ${shown(written)}.`)
  validateOptions('waitFor', options, { within: anything })
  checkThere(subject)
  const session = sessionOf(subject.sim)
  const { journal } = session.core
  const ms = durationMs('within', options.within) ?? subject.waitMs ?? WAIT_MS
  const begun = journal.atMs
  const asked = () => answerOf(look)
  let value = asked()
  const again = () => {
    value ||= asked()
    return value || journal.atMs >= begun + ms ? null : { untilMs: begun + ms }
  }
  if (!value && (await whether(waitUntil(session.context, again, session.over)))) {
    throw overtaken('waitFor', subject.asked)
  }
  if (value) return value
  throw failed(session, stillNot(session, subject, String(written), ms), subject)
}

/** A promise is always true: it would be taken for an answer. */
function answerOf<Value>(look: () => Value): Value {
  const value = look()
  if (!(value instanceof Promise)) return value
  throw invalid('waitFor', 'waitFor asks a function that answers at once; this one returned a promise.')
}

function stillNot(session: Session, { chatId }: Subject, source: string, ms: number): Failure {
  const chat = chatId === null ? undefined : session.core.platform.state.chats.get(chatId)
  const state = chat === undefined ? '' : `; the chat is with ${chat.status}, ${chat.typing ? 'typing' : 'not typing'}`
  return {
    kind: 'check',
    step: null,
    conversation: chat === undefined ? null : session.conversationOf(chat.id),
    wanted: `waitFor ${source.replace(/\s+/g, ' ').slice(0, 120)} within ${shownMs(ms)}`,
    happened: `it did not come true${state}`,
    rules: [],
    nearest: [],
    marks: [],
    soft: false,
  }
}

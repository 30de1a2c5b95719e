/** Implements `waitFor`: calls a predicate of the test after every journal entry until it returns a truthy value. */

import type { Failure } from '../evaluator/failure.ts'
import { waitUntil } from '../runner/waiting.ts'
import { anything, describeValue, validateOptions } from '../simulator/options.ts'
import { expectationError } from './expectation-error.ts'
import { checkChatExists, resetError, type Subject, wasAborted } from './expectations.ts'
import { durationMs, invalid } from './options.ts'
import { DEFAULT_WAIT_MS } from './plan-builder.ts'
import { type TestRun, testRunOf } from './test-run.ts'

/** Resolves with the first truthy value of `predicate`. `written` is the function whose source a failure shows. */
export async function waitFor<Value>(
  subject: Subject,
  predicate: () => Value,
  options: { readonly within?: string },
  written: (...args: never[]) => unknown = predicate,
): Promise<NonNullable<Value>> {
  if (typeof written !== 'function')
    throw invalid('waitFor', `waitFor takes a function, got ${describeValue(written)}.`)
  validateOptions('waitFor', options, { within: anything })
  checkChatExists(subject)
  const run = testRunOf(subject.sim)
  const { journal } = run.core
  const ms = durationMs('within', options.within) ?? subject.waitMs ?? DEFAULT_WAIT_MS
  const untilMs = journal.atMs + ms
  let value = callPredicate(predicate)
  const status = () => {
    value ||= callPredicate(predicate)
    return value || journal.atMs >= untilMs ? null : { untilMs }
  }
  if (!value && (await wasAborted(waitUntil(run.context, status, run.resetSignal)))) {
    throw resetError('waitFor', subject.callStack)
  }
  if (value) return value
  throw expectationError(run, [timeoutFailure(run, subject, String(written), ms)], subject.callStack)
}

/** Rejects a promise, because it is always truthy. */
function callPredicate<Value>(predicate: () => Value): Value {
  const value = predicate()
  if (!(value instanceof Promise)) return value
  throw invalid('waitFor', 'waitFor takes a function that returns its value at once; this one returned a promise.')
}

function timeoutFailure(run: TestRun, { chatId }: Subject, source: string, ms: number): Failure {
  const chat = chatId === null ? undefined : run.core.platform.state.chats.get(chatId)
  return {
    kind: 'check',
    step: null,
    conversation: chat === undefined ? null : run.conversationOf(chat.id),
    expected: { code: 'condition', source: source.replace(/\s+/g, ' ').slice(0, 120), withinMs: ms },
    happened: {
      code: 'condition_false',
      chat: chat === undefined ? null : { status: chat.status, typing: chat.typing },
    },
    rules: [],
    nearest: [],
    entrySeqs: [],
    soft: false,
  }
}

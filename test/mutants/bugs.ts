/** Lists which scenario finds which bug, and the first failure it reports. */
import type { FailureKind } from '../../src/evaluation/evaluator/failure.ts'
import type { BugName } from './patches.ts'

export interface Bug {
  readonly bug: BugName
  /** A file of scenarios/, without `.yaml`. */
  readonly scenario: string
  /** Part of the scenario's name, where a matrix gives several. */
  readonly only?: string
  readonly kind: FailureKind
  /** Part of what was expected and what happened, in one line. */
  readonly says: RegExp
  /** The kind of another failure that must be reported. */
  readonly also?: FailureKind
}

const row = (
  bug: BugName,
  scenario: string,
  kind: FailureKind,
  says: RegExp,
  more: Pick<Bug, 'only' | 'also'> = {},
): Bug => ({ bug, scenario, kind, says, ...more })

export const BUGS: readonly Bug[] = [
  row('escapes-html', 'happy-path', 'expect', /message.*(escap|differ)/i),
  row('escapes-html', 'texts', 'expect', /message/),
  row('escapes-html', 'every-serialisation', 'expect', /message/, { only: 'json=compact' }),
  row('forwards-copies', 'happy-path', 'echo', /never reads.* sent what the user of .* back/),
  row('ends-twice', 'happy-path', 'times', /end was called twice, expected exactly once/),
  row('ends-locally', 'quiet-user', 'expect', /end/),
  row('never-reopens', 'closed-hours', 'expect', /availability/),
  row('closes-desk-with-chat', 'business-hours', 'none', /availability/),
  row('loses-attachments', 'attachments', 'expect', /supports_attachment/),
  row('needs-a-text', 'attachments', 'sees', /kvittering-æøå/),
  row('translates-again', 'live-translation', 'expect', /It is on its way/),
  row('declares-no-language', 'live-translation', 'expect', /language_codes/),
  row('counts-everyone', 'queue-position', 'expect', /number/),
  row('announces-as-bot', 'notice-before-takeover', 'expect', /Nora/),
  row('starts-to-announce', 'notice-before-takeover', 'check', /pending/),
  row('types-for-ever', 'typing', 'expect', /timeout/),
  row('message-leaves-typing-on', 'typing', 'expect', /typing_stop/),
  row('mixes-up-chats', 'several-users', 'expect', /Hello user/),
  row('keeps-old-conversation', 'second-handover', 'sees', /request/),
  row('gives-up-on-503', 'flaky-platform', 'expect', /start/),
  row('ignores-retry-after', 'flaky-platform', 'times', /apart/),
  row('gives-up-without-answer', 'lost-answers', 'check', /agent/, { only: 'call=start, lost=before' }),
  row('opens-twice', 'duplicate-events', 'sees', /request/),
  row('request-undoes-takeover', 'duplicate-events', 'driver', /says/),
  row('drops-repeats', 'duplicate-events', 'sees', /ok/),
  row('answers-after-end', 'out-of-order', 'none', /message/),
  row('keeps-last-ten', 'long-conversation', 'sees', /Question 10/),
  row('sends-side-by-side', 'long-conversation', 'check', /One/),
  row('sends-side-by-side', 'slow-platform', 'check', /has joined/),
  row(
    'acks-after-calling',
    'slow-platform',
    'stimulus',
    /answered 200 to MESSAGE FROM USER after .*, expected 200 within 2s/,
  ),
  row('hammers-on-401', 'wrong-key', 'times', /start/),
  row(
    'checks-no-signature',
    'forged-events',
    'stimulus',
    /accepted a forged event: it answered 200 to REQUESTING TAKEOVER with a signature made with another key/,
    { only: 'sign=wrong-key' },
  ),
  row('knows-only-four-events', 'unknown-events', 'stimulus', /400/),
  row('expects-a-chat', 'unknown-events', 'stimulus', /500/),
  row('forgets-on-restart', 'restart', 'driver', /404/),
  row('acks-before-storing', 'restart', 'driver', /404/),
  row('keeps-first-sender', 'transfer', 'expect', /sender/),
  row('restringifies', 'every-serialisation', 'stimulus', /401/, { only: 'json=spaced' }),
  row('reads-latin1', 'every-serialisation', 'sees', /./, { only: 'json=compact' }),
  row('trims', 'texts', 'sees', /indented/),
]

/** Lists which scenario finds which bug, and the first failure it reports. */
import type { FailureKind } from '../../src/evaluation/finding.ts'
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
  /** The step that finds it is recommended: it warns. */
  readonly isRecommended?: true
}

const row = (
  bug: BugName,
  scenario: string,
  kind: FailureKind,
  says: RegExp,
  more: Pick<Bug, 'only' | 'also' | 'isRecommended'> = {},
): Bug => ({ bug, scenario, kind, says, ...more })

/** Finds it with a step of level should. */
const recommended = (...[bug, scenario, kind, says, more]: Parameters<typeof row>): Bug =>
  row(bug, scenario, kind, says, { ...more, isRecommended: true })

export const BUGS: readonly Bug[] = [
  row('escapes-html', 'happy-path', 'expect', /message.*(escap|differ)/i),
  row('escapes-html', 'texts', 'expect', /message/),
  row('escapes-html', 'every-serialisation', 'expect', /message/, { only: 'json=compact' }),
  row('forwards-copies', 'happy-path', 'echo', /never reads.* sent what the user of .* back/),
  row('ends-twice', 'happy-path', 'times', /end was called twice, expected exactly once/),
  row('ends-locally', 'quiet-user', 'expect', /end/),
  row('never-reopens', 'closed-hours', 'expect', /availability/),
  row('closes-desk-with-chat', 'business-hours', 'check', /pending/),
  recommended('loses-attachments', 'attachments', 'expect', /supports_attachment/),
  row('needs-a-text', 'attachments', 'sees', /kvittering-æøå/),
  recommended('translates-again', 'live-translation', 'expect', /It is on its way/),
  recommended('declares-no-language', 'live-translation', 'expect', /language_codes/),
  recommended('counts-everyone', 'queue-position', 'expect', /number/),
  recommended('announces-as-bot', 'notice-before-takeover', 'expect', /Nora/),
  row('starts-to-announce', 'notice-before-takeover', 'check', /pending/),
  recommended('types-for-ever', 'typing', 'expect', /timeout/),
  recommended('message-leaves-typing-on', 'typing', 'expect', /typing_stop/),
  row('mixes-up-chats', 'several-users', 'expect', /Hello user/),
  row('keeps-old-conversation', 'second-handover', 'sees', /request/),
  recommended('gives-up-on-503', 'flaky-platform', 'expect', /start/),
  recommended('ignores-retry-after', 'flaky-platform', 'times', /apart/),
  recommended('gives-up-without-answer', 'lost-answers', 'check', /agent/, { only: 'call=start, lost=before' }),
  recommended('opens-twice', 'duplicate-events', 'sees', /request/),
  recommended('request-undoes-takeover', 'duplicate-events', 'driver', /says/),
  recommended('drops-repeats', 'duplicate-events', 'sees', /ok/),
  recommended('answers-after-end', 'out-of-order', 'none', /message/),
  row('keeps-last-ten', 'long-conversation', 'sees', /Question 9/),
  recommended('sends-side-by-side', 'long-conversation', 'check', /One/),
  recommended('sends-side-by-side', 'slow-platform', 'check', /has joined/),
  recommended('acks-after-calling', 'slow-platform', 'stimulus', /answered 200 .* after .*, expected 200 within 2s/),
  recommended('hammers-on-401', 'wrong-key', 'times', /start/),
  row('checks-no-signature', 'forged-events', 'sees', /customer list/, { only: 'sign=wrong-key' }),
  recommended('knows-only-four-events', 'unknown-events', 'stimulus', /400/),
  recommended('expects-a-chat', 'unknown-events', 'stimulus', /500/),
  recommended('forgets-on-restart', 'restart', 'driver', /404/),
  recommended('acks-before-storing', 'restart', 'driver', /404/),
  recommended('keeps-first-sender', 'transfer', 'expect', /sender/),
  row('restringifies', 'every-serialisation', 'stimulus', /401/, { only: 'json=spaced' }),
  row('reads-latin1', 'every-serialisation', 'sees', /./, { only: 'json=compact' }),
  row('trims', 'texts', 'sees', /indented/),
  recommended('reads-no-transcript', 'written-before', 'sees', /number 4711/),
  recommended('reads-handover-transcript', 'written-before', 'sees', /by Friday/),
]

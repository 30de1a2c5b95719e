/** Lists which checks find which bug, and by which finding. */
import { expect } from 'vitest'
import type { CertifyOptions } from '../../src/testing/certify.ts'
import type { BugName } from '../mutants/patches.ts'

export interface Found {
  readonly check: string
  readonly outcome: 'fail' | 'warn' | 'info'
  readonly code: string
  /** Part of what happened. */
  readonly says: RegExp
}

type Row = readonly [bug: BugName, ...found: Found[]]
type SystemRow = readonly [bug: BugName, found: Found, ...flags: string[]]

const found =
  (outcome: Found['outcome']) =>
  (check: string, code: string, says: RegExp): Found => ({ check, outcome, code, says })
const [fails, warns, informs] = [found('fail'), found('warn'), found('info')]

const DELIVERED_TWICE = /delivered twice, 50 ms apart, and the agent sees 2 requests/
const SHOWN_AGAIN = /again, after 2s, shows the agent a further request/

/** Found in this process, where the intermediary is a function. */
export const BUGS: readonly Row[] = [
  // Acknowledgement
  [
    'acks-slowly',
    warns('ACK-02', 'acknowledged-late', /Of 20 events at once, 20 were not acknowledged within 1s.* with 1\.5 s/),
    warns('ACK-05', 'sent-again', /MESSAGE FROM USER .* received it 2 times, and acknowledged none of them in time\.$/),
  ],
  [
    'announces-before-ack',
    warns('ACK-02', 'acknowledgement-waits', /While every answer of the API took 1600ms, .* after 1\.6 s\. Usually/),
    warns('ACK-05', 'sent-again', /REQUESTING TAKEOVER was not acknowledged within 1s.* received it 2 times/),
  ],
  ['answers-200-to-everything', warns('ACK-03', 'malformed-request', /200 to a signed event .* type text\/plain/)],
  ['waits-a-moment-for-calls', warns('ACK-04', 'call-before-ack', /before it answered REQUESTING/)],

  // Deliveries
  [
    'opens-twice',
    warns('DLV-01', 'conversation-repeated', DELIVERED_TWICE),
    warns('SIG-08', 'replay-used', SHOWN_AGAIN),
  ],
  ['request-undoes-takeover', warns('DLV-01', 'conversation-repeated', /an agent had the chat, .* [23] requests/)],
  ['drops-repeats', fails('DLV-02', 'repeated-text-lost', /"ok, parcel-17" 2 times, and the agent sees it once/)],
  ['drops-repeats-after-a-webhook', fails('DLV-02', 'repeated-text-lost', /2 times, and the agent sees it once/)],
  ['reads-the-latest-message', warns('DLV-03', 'overtaken-text-lost', /does not see "Written first, delivered last"/)],
  ['answers-after-end', warns('DLV-04', 'late-message-starts-call', /message that came when the handover was over/)],

  // Events
  ['knows-only-four-events', warns('EVT-01', 'unknown-event-refused', /answered 400 to the unknown event CUSTOMER RA/)],
  ['opens-for-unknown-events', warns('EVT-01', 'unknown-event-used', /GIVEN had an effect: the agent sees it/)],
  ['opens-for-unknown-events-late', warns('EVT-01', 'unknown-event-used', /GIVEN had an effect: the agent sees it/)],
  ['rejects-unknown-fields', warns('EVT-02', 'event-form-refused', /400 to REQUESTING .* unknown fields/)],
  ['needs-the-event-first', warns('EVT-02', 'event-form-ignored', /with its fields in reverse order had no effect/)],
  ['returns-typing', warns('EVT-03', 'typing-returned', /calls? after AGENT TYPING START .*: POST .*\/typing_start/)],
  ['expects-a-chat', warns('EVT-03', 'typing-event-refused', /500 to AGENT TYPING STOP, .* has only `chat_id`/)],
  ['expects-a-request-first', fails('EVT-04', 'unknown-chat-refused', /404 to MESSAGE FROM USER .* not seen before/)],
  ['files-replace-the-text', fails('EVT-05', 'attachments-lose-text', /does not see the text "A message with two/)],
  ['knows-some-sources', warns('EVT-06', 'chat-kind-ignored', /chat whose source is "android" had no effect/)],
  ['formats-the-language', warns('EVT-06', 'chat-kind-refused', /answered 500 to .* a chat whose language is ""/)],

  // Faults
  ['hurries-without-retry-after', warns('FLT-02', 'retry-too-early', /\d+ ms after .* 429 without Retry-After/)],
  ['waits-too-briefly', warns('FLT-01', 'message-repeated', /"First.*" \d times, while .* one call/)],
  ['has-one-queue-for-all', warns('FLT-01', 'other-chat-blocked', /of another chat, .* answered after 1600ms/)],
  [
    'gives-up-on-503',
    warns('FLT-02', 'call-given-up', /start did not succeed within 5s .* with 503: .* made 1 call in all/),
    warns('FLT-02', 'call-given-up', /message did not succeed within 5s .* with 503: .* made 1 call in all/),
  ],
  ['ignores-retry-after', warns('FLT-02', 'retry-too-early', /message was made again \d+ ms after .* Retry-After: 2/)],
  ['sends-side-by-side', warns('FLT-02', 'messages-reordered', /second message of the agent before the first/)],
  ['sends-side-by-side-one-late', warns('FLT-02', 'messages-reordered', /second message of .* before the first/)],
  ['never-stops-on-401', warns('FLT-03', 'key-refused-repeatedly', /made \d+ calls .* each was answered with 401/)],
  ['stops-for-ever-on-401', warns('FLT-03', 'not-recovered', /After the platform accepted the key again/)],
  ['repeats-after-lost-answer', warns('FLT-04', 'message-repeated', /\d times, after the answer to one call was lost/)],

  // Handover
  ['refuses-unknown-fields', fails('FLW-07', 'text-missing', /^No message call had message 1/)],
  ['reads-answers-by-position', fails('FLW-07', 'text-missing', /^No message call had message 1/)],
  ['shows-newest-first', fails('FLW-02', 'text-order', /got message 3, message 2, message 1; the order was message 1/)],
  ['shows-twice', fails('FLW-02', 'text-repeated', /^The agent got message 1 2 times; it was sent once/)],
  ['sends-twice', fails('FLW-03', 'text-repeated', /^The user got message 1 2 times/)],
  ['omits-sender', warns('FLW-03', 'sender-incomplete', /^message \(#\d+, #\d+, #\d+\): sender is missing/)],
  ['names-nobody', warns('FLW-03', 'placeholder-text', /"undefined undefined" as sender.name.* So are 2 more calls/)],
  [
    'shows-a-path',
    warns('FLW-03', 'avatar-address', /the picture "\/anna.png" in sender.avatar.* So are 2 more calls/),
  ],
  ['ends-locally', fails('FLW-04', 'call-missing', /^No end came within 2s after the agent left/)],
  [
    'ends-twice',
    warns('FLW-04', 'end-repeated', /^#\d+ POST .*end came \d+m?s after the handover was ended with #\d+\./),
  ],
  [
    'says-goodbye-late',
    warns('FLW-04', 'call-after-end', /^#\d+ POST .*message\/ came \d+m?s after the handover was ended/),
  ],
  [
    'key-in-address',
    warns('FLW-05', 'secret-exposed', /^#\d+ has a key or token in the address\. .* So are \d more calls\.$/),
  ],
  ['sends-a-rating-late', fails('FLW-05', 'call-refused', /^POST .*\/handover\/rating was answered with 404/)],
  ['sends-plain-text', fails('FLW-05', 'content-type', /Content-Type/)],
  [
    'reads-no-transcript',
    warns(
      'FLW-08',
      'before-request-unseen',
      /^The agent does not see "The number .* 4711\." and 1 more text, which user/,
    ),
    warns(
      'FLW-08',
      'while-waiting-unseen',
      /^The agent does not see "It should .*", which the user wrote while waiting/,
    ),
  ],
  ['reads-handover-transcript', warns('FLW-08', 'while-waiting-unseen', /^The agent does not see "It should be here/)],
  [
    'shows-two-lines',
    warns('FLW-08', 'before-request-unseen', /^The agent does not see "The number .*4711\.", which user and/),
  ],
  [
    'shows-whole-transcript',
    warns('FLW-08', 'conversation-repeated', /sees "Can you .*" 2 times, which the user wrote right after `start`/),
  ],
  ['shows-transcript-newest-first', warns('FLW-08', 'conversation-reordered', /sees ".*" before "The number of my/)],
  [
    'shows-only-the-transcript',
    warns('FLW-08', 'after-start-unseen', /does not see "Can you see where it is\?", which/),
  ],
  ['keeps-old-conversation', fails('FLW-06', 'second-request-unseen', /second request of the same chat within 2s/)],

  [
    'stays-open-when-the-user-leaves',
    warns(
      'FLW-09',
      'call-after-user-left',
      /message\/ came .* had refused #\d+ because .* The conversation is still open/,
    ),
  ],
  [
    'repeats-what-is-not-found',
    warns('FLW-09', 'call-after-user-left', /message\/ repeats #\d+, .* after the platform had refused it/),
  ],

  // Optional capabilities
  ['loses-attachments', warns('ATT-01', 'files-missing', /receipt\.pdf, photo 1\.png, .* without supports_attachment/)],
  ['needs-a-text', fails('ATT-01', 'files-missing', /^The agent does not see notes\.txt within 2s\.$/)],
  ['translates-again', warns('TRL-01', 'text-changed', /character 1: .* marker stands in front: \[en>fo\]\)\.$/)],
  ['declares-no-language', warns('TRL-01', 'languages-missing', /^start had no list as sender\.language_codes\.$/)],
  [
    'types-for-ever',
    warns('TYP-01', 'typing-never-stopped', /no `timeout`, and no typing_stop or message or end followed within 6s\./),
  ],
  ['never-reopens', fails('AVL-01', 'availability-missing', /with OPEN came within 2s after all agents were back/)],
  ['gives-no-reason', warns('AVL-01', 'reason-missing', /^availability \(#\d+, .*\) had no `reason`/)],

  // Signatures
  ['accepts-unsigned-events', fails('SIG-02', 'forged-event-used', /no signature had an effect: the agent sees it/)],
  [
    'checks-no-signature',
    fails('SIG-03', 'forged-event-used', /signature made with another key had an effect: the agent sees it/),
    fails('SIG-04', 'forged-event-used', /one byte changed after signing had an effect/),
  ],
  ['checks-no-signature-and-shows-late', fails('SIG-03', 'forged-event-used', /with another key had an effect/)],
  ['compares-a-prefix', fails('SIG-05', 'forged-event-used', /first 33 characters of its signature had an effect/)],
  ['compares-letters-only', fails('SIG-05', 'forged-event-used', /signature in other letter case had an effect/)],
  ['decodes-the-signature', warns('SIG-05', 'forged-event-used', /base64url instead of base64 had an effect/)],
  ['compares-without-lengths', warns('SIG-05', 'forged-event-error', /answered 500 to .* with an empty signature/)],
  ['reads-the-algorithm', warns('SIG-06', 'variant-error', /answered 500 to .* no header that names the algorithm/)],
  ['ignores-the-algorithm', informs('SIG-09', 'algorithm-ignored', /answered 200 to .* is "HMAC-SHA-512 \(base64/)],
  ['verifies-latin1', fails('SIG-07', 'serialisation-refused', /non-ASCII text fail and the one .* passes: .*Latin-1/)],
  ['verifies-trimmed', fails('SIG-07', 'serialisation-refused', /trimmed before .*\(without the newline at the end\)/)],
  ['opens-twice-late', warns('SIG-08', 'replay-used', SHOWN_AGAIN)],

  // Texts
  ['trims', fails('TXT-01', 'text-changed', /spaces at its ends changed, at character 1: .* U\+0073 .*: trimmed\)\.$/)],
  ['normalises-texts', fails('TXT-01', 'text-changed', /sent U\+0065 U\+0301 .*, received U\+00E9 .* to NFC\)\.$/)],
  ['joins-lines', fails('TXT-01', 'text-changed', /sent U\+000A .*, received U\+0020 .* \(line breaks were changed\)/)],
  ['reads-latin1', fails('TXT-01', 'text-changed', /^The agent got an Arabic text changed, .* read as Latin-1\)\.$/)],
  ['cuts-emoji', fails('TXT-01', 'text-changed', /sent U\+1F469 .*, received U\+003F .* \(characters above U\+FFFF/)],
  ['escapes-html', warns('TXT-02', 'text-changed', /at character 8: .* \(only HTML escaping differs\)/)],
  ['cuts-long-texts', warns('TXT-03', 'text-changed', /64 KB changed, .* \(cut off after 10000 of 64000 characters\)/)],

  // Unusual requests
  ['breaks-on-byte-order-mark', warns('WIR-02', 'variant-error', /answered 500 to .* with a byte order mark/)],
  ['needs-a-content-type', warns('WIR-02', 'variant-error', /answered 500 to .* with no Content-Type/)],

  // Many chats at once
  ['mixes-up-chats', fails('CON-01', 'text-in-other-chat', /With 20 chats at once, \d+ texts? came to another chat/)],
  ['refuses-crowds', fails('CON-01', 'events-refused-under-load', /200 chats at once, \d+ events .* than 200: 503/)],
]

/** Found only where a process ends, a connection is observed, or a link is opened. */
export const SYSTEM_BUGS: readonly SystemRow[] = [
  ['wants-a-length', warns('WIR-01', 'variant-refused', /answered 411 to a validly signed .* with a body in chunks/)],
  ['reads-one-piece', warns('WIR-01', 'variant-refused', /answered 401 to .* with a body that arrives in pieces/)],
  ['wants-no-charset', warns('WIR-01', 'variant-refused', /answered 415 to .* with a charset in the Content-Type/)],
  ['guesses-links', fails('ATT-01', 'link-broken', /link of receipt\.pdf .* http.*\.download, answers 404\.$/)],
  ['ends-at-unknown-events', fails('EVT-01', 'target-ended', /ended by itself after CUSTOMER .* with exit code 3/)],
  ['dies-without-algorithm', fails('SIG-06', 'target-ended', /ended by itself after REQUESTING .* exit code 1\.$/)],
  ['forgets-on-restart', warns('RST-01', 'lost-by-restart', /kill -9, start did not come: .* accept, answered 404/)],
  ['forgets-and-answers-202', warns('RST-01', 'lost-by-restart', /message did not come: .* says, and no call/)],
  ['acks-before-storing', warns('RST-01', 'lost-by-restart', /After a restart with kill -9, start did not come/)],
  ['ends-locally', warns('RST-01', 'lost-by-restart', /end did not come: .* performed leave, and no call followed/)],
  ['leaves-a-lock', warns('RST-01', 'not-restarted', /did not start again after kill -9: .*EEXIST/s)],
  [
    'answers-no-crowds',
    warns('CON-01', 'answers-missing-at-once', /^Of 200 .* \d+ had no answer: timeout: .* 100 at once were all/),
    '--ack-limit=2s',
  ],
]

export function expectFound(
  { check, outcome, code, says }: Found,
  checks: readonly { id: string; findings: readonly { code: string; happened: string }[] }[],
): void {
  const result = checks.find(({ id }) => id === check)
  expect(result).toMatchObject({ id: check, outcome })
  const happened = result?.findings.filter(finding => finding.code === code).map(finding => finding.happened)
  expect(happened).toContainEqual(expect.stringMatching(says))
}

/** With the default behaviours of the platform, so that a bug fails a check for one reason. */
export const OPTIONS: CertifyOptions = { seed: 1, rotateUnspecified: false, observe: '400ms', within: '2s' }
/** Answers of the API take 1.6 times as long as this limit. */
const SHORT_LIMIT: CertifyOptions = { ackLimit: '1s' }

export const MORE_OPTIONS: { readonly [Bug in BugName]?: CertifyOptions } = {
  'acks-slowly': SHORT_LIMIT,
  'announces-before-ack': SHORT_LIMIT,
  // A call of one chat waits for the slow call of another one.
  'has-one-queue-for-all': { within: '6s' },
}

/** The checks of the same families that a bug fails besides those of its row. */
export const ALSO_FAILED: { readonly [Bug in BugName]?: readonly string[] } = {
  'announces-before-ack': ['ACK-04'],
  // It waits as briefly after every other answer.
  'never-stops-on-401': ['FLT-02'],
  // The order of files is that of the inbox.
  'shows-newest-first': ['ATT-01', 'FLW-08'],
  // Files and translated texts are shown twice too.
  'shows-twice': ['ATT-01', 'TRL-01', 'FLW-08'],
  // It cannot read the answer with the transcript, and asks for it until after the end of the check.
  'reads-answers-by-position': ['FLW-08', 'FLW-05'],
  'refuses-unknown-fields': ['FLW-08', 'FLW-05'],
  // A further handover repeats and ends in the same way.
  'sends-twice': ['FLW-07'],
  'ends-twice': ['FLW-07'],
  // A call that is still being repeated is about a chat of the check before, which FLW-05 does not know.
  'repeats-what-is-not-found': ['FLW-05'],
  // The goodbye comes after the end.
  'says-goodbye-late': ['DLV-04', 'FLW-07'],
  // A replay and a repetition open a conversation in the same way.
  'opens-twice-late': ['DLV-01'],
  // Similar signatures are wrong too.
  'checks-no-signature-and-shows-late': ['SIG-04', 'SIG-05'],
  'checks-no-signature': ['SIG-05'],
  // A body that is no JSON ends in an exception.
  'breaks-on-byte-order-mark': ['ACK-03'],
  // Without a signature the header is missing too.
  'reads-the-algorithm': ['SIG-02'],
  // A repeated header has another length.
  'compares-without-lengths': ['SIG-06'],
}

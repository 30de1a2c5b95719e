/** The bugs that the checks of `events` find. */
import type { FoundBug } from '../mutants.ts'

/** Until an effect counts as missing. */

export const EVENTS_BUGS: readonly FoundBug[] = [
  {
    bug: 'knows-only-four-events',
    check: 'EVT-01',
    outcome: 'warn',
    code: 'unknown-event-refused',
    says: /answered 400 to the unknown event CUSTOMER RATING GIVEN/,
  },
  {
    bug: 'ends-at-unknown-events',
    check: 'EVT-01',
    outcome: 'fail',
    code: 'target-ended',
    says: /ended by itself after CUSTOMER RATING GIVEN: it ended with exit code 3/,
  },
  {
    bug: 'opens-for-unknown-events',
    check: 'EVT-01',
    outcome: 'warn',
    code: 'unknown-event-used',
    says: /CUSTOMER RATING GIVEN had an effect: the agent sees it/,
  },
  {
    bug: 'opens-for-unknown-events-late',
    check: 'EVT-01',
    outcome: 'warn',
    code: 'unknown-event-used',
    says: /CUSTOMER RATING GIVEN had an effect: the agent sees it/,
    flags: ['--no-rotate-unspecified'],
  },
  {
    bug: 'rejects-unknown-fields',
    check: 'EVT-02',
    outcome: 'warn',
    code: 'event-form-refused',
    says: /answered 400 to REQUESTING TAKEOVER with unknown fields at every level/,
  },
  {
    bug: 'needs-the-event-first',
    check: 'EVT-02',
    outcome: 'warn',
    code: 'event-form-ignored',
    says: /REQUESTING TAKEOVER with its fields in reverse order had no effect. Without the difference the agent sees it/,
  },
  {
    bug: 'returns-typing',
    check: 'EVT-03',
    outcome: 'fail',
    code: 'typing-returned',
    says: /made (a call|\d calls) after AGENT TYPING START and AGENT TYPING STOP: POST \/api\/v2\/handover\/typing_start/,
  },
  {
    bug: 'expects-a-chat',
    check: 'EVT-03',
    outcome: 'warn',
    code: 'typing-event-refused',
    says: /answered 500 to AGENT TYPING STOP, whose payload has only `chat_id`/,
  },
  {
    bug: 'expects-a-request-first',
    check: 'EVT-04',
    outcome: 'fail',
    code: 'unknown-chat-refused',
    says: /answered 404 to MESSAGE FROM USER for a chat that it had not seen before/,
  },
  {
    bug: 'files-replace-the-text',
    check: 'EVT-05',
    outcome: 'fail',
    code: 'attachments-lose-text',
    says: /does not see the text "A message with two files" of MESSAGE FROM USER with two attachments. Seen: "A message without/,
  },
  {
    bug: 'knows-some-sources',
    check: 'EVT-06',
    outcome: 'warn',
    code: 'chat-kind-ignored',
    says: /a chat whose source is "carrier-pigeon" had no effect/,
  },
  {
    bug: 'formats-the-language',
    check: 'EVT-06',
    outcome: 'warn',
    code: 'chat-kind-refused',
    says: /answered 500 to REQUESTING TAKEOVER of a chat whose language is ""/,
  },
]

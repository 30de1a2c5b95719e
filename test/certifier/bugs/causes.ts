/** The bugs that stop many checks, each with the one check that fails for it. */
import type { BugName } from '../../mutants/patches.ts'

export interface StoppingBug {
  readonly bug: BugName
  /** The check whose subject it is. */
  readonly check: string
  readonly code: string
  /** The cause at the beginning of the report. */
  readonly says: RegExp
  /** Checks that find something else that the bug does; at most two. */
  readonly also?: readonly string[]
  /** A stopped check, and whether it is repeated or blocked. */
  readonly stops: readonly [check: string, how: 'repeated' | 'blocked']
}

export const STOPPING_BUGS: readonly StoppingBug[] = [
  {
    bug: 'compares-hex',
    check: 'SIG-01',
    code: 'valid-signature-refused',
    says: /^The webhook compares the signature as hexadecimal instead of base64\.$/,
    also: ['SIG-05'],
    stops: ['FLW-01', 'blocked'],
  },
  {
    bug: 'adds-a-newline-to-the-key',
    check: 'SIG-01',
    code: 'valid-signature-refused',
    says: /^The webhook verifies with a key that has white space at its start or end \(with a newline at the end\)\.$/,
    stops: ['SIG-02', 'blocked'],
  },
  {
    bug: 'fails-at-requests',
    check: 'SIG-01',
    code: 'event-refused',
    says: /^The webhook answered 500 to a validly signed REQUESTING TAKEOVER, and not 200\.$/,
    stops: ['WIR-01', 'blocked'],
  },
  {
    bug: 'restringifies',
    check: 'SIG-07',
    code: 'serialisation-refused',
    says: /^The webhook verifies JSON that it has parsed and written again \(as JSON\.stringify/,
    // A body that is no JSON ends in an exception.
    also: ['WIR-02', 'ACK-03'],
    stops: ['SIG-02', 'repeated'],
  },
  {
    bug: 'rewrites-with-spaces',
    check: 'SIG-07',
    code: 'serialisation-refused',
    says: /^The webhook verifies JSON that it has parsed and written again \(spaces behind/,
    also: ['WIR-02', 'ACK-03'],
    // It is repeated with spaces, which the intermediary accepts, although they are not the default.
    stops: ['SIG-01', 'repeated'],
  },
  {
    bug: 'expects-hyphens-in-ids',
    check: 'SIG-01',
    code: 'valid-signature-refused',
    says: /^The webhook answered 400 to a validly signed .* It does so only with ids\.chat=hex24\.$/,
    stops: ['SIG-04', 'repeated'],
  },
  {
    bug: 'refuses-delivery-ids',
    // No check has it as its subject, and SIG-01 has no such header with this seed: the clearest finding shows it.
    check: 'ACK-05',
    code: 'event-refused',
    says: /^The webhook answered 400 to a validly signed .* It does so only with webhook\.idHeader=X-Delivery-Id\.$/,
    stops: ['SIG-04', 'repeated'],
  },
  {
    bug: 'acks-messages-with-202',
    check: 'ACK-01',
    code: 'event-refused',
    says: /^The webhook answered 202 to a validly signed MESSAGE FROM USER, and not 200\.$/,
    stops: ['FLW-02', 'blocked'],
  },
  {
    bug: 'expects-attachments',
    check: 'EVT-05',
    code: 'attachments-refused',
    says: /^The webhook answered 500 to MESSAGE FROM USER without `attachments`, and not 200\.$/,
    stops: ['FLW-02', 'repeated'],
  },
  {
    bug: 'accepts-locally',
    check: 'FLW-01',
    code: 'call-missing',
    says: /^No start came within \d+s after the agent accepted \(POST .*\/accept\)/,
    stops: ['EVT-06', 'blocked'],
  },
  {
    bug: 'shows-no-messages',
    check: 'FLW-02',
    code: 'text-missing',
    says: /^The agent does not see message 1/,
    stops: ['DLV-03', 'blocked'],
  },
  {
    bug: 'sends-no-messages',
    check: 'FLW-03',
    code: 'text-missing',
    says: /^No message call had message 1/,
    stops: ['TXT-02', 'blocked'],
  },
  {
    bug: 'bot-id-as-text',
    check: 'FLW-05',
    code: 'call-refused',
    says: /^POST .* was answered with 400: bot_id must be an integer.* So were 5 more such calls\.$/,
    stops: ['FLW-01', 'blocked'],
  },
]

/** The bugs that the checks of optional capabilities find. */
import type { FoundBug } from '../mutants.ts'

/** What the example does takes milliseconds. */

export const OPTIONAL_BUGS: readonly FoundBug[] = [
  {
    bug: 'loses-attachments',
    check: 'ATT-01',
    outcome: 'warn',
    code: 'files-missing',
    says: /^The agent does not see receipt\.pdf, photo 1\.png, notes\.txt within \d+s; start was called without supports_attachment: true\.$/,
  },
  {
    bug: 'needs-a-text',
    check: 'ATT-01',
    outcome: 'fail',
    code: 'files-missing',
    says: /^The agent does not see notes\.txt within \d+s\.$/,
  },
  {
    bug: 'guesses-links',
    check: 'ATT-01',
    outcome: 'fail',
    code: 'link-broken',
    says: /^The link of receipt\.pdf that the agent sees, http.*\.download, answers 404\.$/,
  },
  {
    bug: 'translates-again',
    check: 'TRL-01',
    outcome: 'warn',
    code: 'text-changed',
    says: /^The user got the message of the agent changed, at character 1: .* \(a translation marker stands in front: \[en>fo\]\)\.$/,
  },
  {
    bug: 'declares-no-language',
    check: 'TRL-01',
    outcome: 'warn',
    code: 'languages-missing',
    says: /^start had no list as sender\.language_codes\.$/,
  },
  {
    bug: 'types-for-ever',
    check: 'TYP-01',
    outcome: 'warn',
    code: 'typing-not-ended',
    says: /^typing_start had no timeout, and no typing_stop, message or end came within 1500ms\.$/,
    flags: ['--observe', '100ms'],
  },
  {
    bug: 'never-reopens',
    check: 'AVL-01',
    outcome: 'fail',
    code: 'availability-missing',
    says: /^No accepted call of availability with OPEN came within \d+s after all agents were back, while handover was CLOSED\.$/,
  },
  {
    bug: 'gives-no-reason',
    check: 'AVL-01',
    outcome: 'warn',
    code: 'reason-missing',
    says: /^4 calls of availability had no reason\.$/,
  },
]

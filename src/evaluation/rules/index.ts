/** Lists the rules that hold for any journal: those of the linter. A new one is a file here, a line below, and a heading of docs/reference/lint.md. */
import { findingRules } from './accepted-with-finding.ts'
import { ackSlowerThanRetry } from './ack-slower-than-retry.ts'
import { aliasMixed } from './alias-mixed.ts'
import { avatarAddress } from './avatar-address.ts'
import { brokenCharacters } from './broken-characters.ts'
import { callAfterEnd } from './call-after-end.ts'
import { callAfterUserLeft } from './call-after-user-left.ts'
import { callBeforeAck } from './call-before-ack.ts'
import { chatNeverEnded } from './chat-never-ended.ts'
import { faultUnused } from './fault-unused.ts'
import { inboxAlternates } from './inbox-alternates.ts'
import { placeholderText } from './placeholder-text.ts'
import { reasonMissing } from './reason-missing.ts'
import type { Rule } from './rule.ts'
import { secretExposed } from './secret-exposed.ts'
import { startTwice } from './start-twice.ts'
import { transcriptPolling } from './transcript-polling.ts'
import { typingForEachKey } from './typing-for-each-key.ts'
import { typingNeverStopped } from './typing-never-stopped.ts'

export const RULES: readonly Rule[] = [
  callAfterEnd,
  callAfterUserLeft,
  startTwice,
  typingNeverStopped,
  typingForEachKey,
  chatNeverEnded,
  inboxAlternates,
  callBeforeAck,
  ackSlowerThanRetry,
  transcriptPolling,
  brokenCharacters,
  placeholderText,
  avatarAddress,
  secretExposed,
  aliasMixed,
  reasonMissing,
  faultUnused,
  ...findingRules,
]

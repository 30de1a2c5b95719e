/** Reports calls that the platform accepted with a finding, once for each kind of finding. */
import type { EntryOf, Finding } from '../journal/entry.ts'
import { type History, isFaulty, type LintDetails, type LinterRule, type LintFinding } from './rule.ts'

type FindingRule = 'unknown-fields' | 'sender-incomplete' | 'content-type' | 'end-without-takeover'

/** Platform rule -> rule of the linter, for every finding that the API and the platform make. */
export const FINDINGS: Readonly<Record<string, FindingRule>> = {
  ER1: 'unknown-fields',
  'R-SENDER.4': 'sender-incomplete',
  'E0.2': 'content-type',
  E5: 'end-without-takeover',
}

export const FINDING_RULES: readonly LinterRule[] = Object.entries(FINDINGS).map(([platformRule, id]) => ({
  id,
  find: history => grouped(history, platformRule).map(([finding, calls]) => findingOf(history, id, finding, calls)),
}))

type Calls = [EntryOf<'api'>, ...EntryOf<'api'>[]]

function grouped({ calls, conversationOf }: History, platformRule: string): [finding: Finding, calls: Calls][] {
  const groups = new Map<string, [Finding, Calls]>()
  for (const call of calls) {
    if (call.endpoint === 'end' && isRepetition(calls, call)) continue
    for (const finding of call.findings.filter(({ rule }) => rule === platformRule)) {
      const key = `${conversationOf(call.chat_id)} ${call.endpoint} ${finding.message}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [finding, [call]])
      else group[1].push(call)
    }
  }
  return [...groups.values()]
}

/** A call of `end` whose first answer a fault lost or damaged. */
const isRepetition = (calls: readonly EntryOf<'api'>[], { seq, chat_id }: EntryOf<'api'>): boolean =>
  calls.some(one => one.seq < seq && one.chat_id === chat_id && one.endpoint === 'end' && isFaulty(one))

function findingOf({ conversationOf }: History, rule: FindingRule, finding: Finding, calls: Calls): LintFinding {
  const [{ endpoint, path, chat_id }] = calls
  const entrySeqs = calls.map(({ seq }) => seq)
  const details: LintDetails[FindingRule] = { target: endpoint ?? path, finding, seqs: entrySeqs }
  return { rule, details, conversation: conversationOf(chat_id), entrySeqs }
}

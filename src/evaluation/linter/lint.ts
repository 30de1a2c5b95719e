/** Reads a journal for calls that work and are likely to cause trouble. Each rule is a heading of docs/reference/lint.md. */
import type { Entry } from '../../platform/journal/entry.ts'
import type { Finding } from '../finding.ts'
import { RULES } from './rules/index.ts'
import { type Found, historyOf, type LintedPlan } from './rules/rule.ts'

/** All findings, ordered by the last entry that each is about. */
export function lint(plan: LintedPlan, entries: readonly Entry[]): Finding[] {
  const history = historyOf(plan, entries)
  const findings: Finding[] = []
  const add = (code: string, chatId: string | undefined, { happened, entrySeqs, details = {} }: Found) =>
    findings.push({ code, level: 'SHOULD', happened, conversation: history.conversationOf(chatId), entrySeqs, details })
  for (const { id, findInRun, findInChat } of RULES) {
    for (const found of findInRun?.(history) ?? []) add(id, found.chat_id, found)
    for (const [chatId, chat] of history.chats)
      for (const found of findInChat?.(chat, history) ?? []) add(id, chatId, found)
  }
  return findings.sort((a, b) => (a.entrySeqs.at(-1) ?? 0) - (b.entrySeqs.at(-1) ?? 0))
}

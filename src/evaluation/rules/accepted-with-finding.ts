import type { CallRemark } from '../../platform/journal/entry.ts'
import type { Level } from '../finding.ts'
import type { CallEntry } from '../history.ts'
import { isFaulty, listed, type Rule } from './rule.ts'

/** Platform rule -> rule of the linter, for every finding that the API and the platform make. */
export const FINDINGS = {
  ER1: 'unknown-fields',
  ER4: 'empty-fields',
  'R-SENDER.4': 'sender-incomplete',
  'E0.2': 'content-type',
  E5: 'end-without-takeover',
} as const

/** What to do; the level of all but one is SHOULD. */
const ADVICE: Readonly<Record<(typeof FINDINGS)[keyof typeof FINDINGS], string>> = {
  'unknown-fields':
    'The platform may refuse it one day, and a misspelt field has no effect (assumption `api.unknownFields`). Compare its name with docs/reference/endpoints.md, or leave it out.',
  'empty-fields':
    'The platform describes the field as optional, and may refuse a null or an empty value (assumptions `api.nulls`, `api.emptyFields`). Leave the field out when it has no value.',
  'sender-incomplete':
    'Send `sender` with `name` and `avatar` with every message, also with notices of the system, and with a default picture when the agent has none (R-SENDER.3).',
  'content-type':
    'The real platform may not read the body at all. Send `Content-Type: application/json` with every call.',
  'end-without-takeover':
    'What the platform does then is not stated (assumption `end.idle`), and it often means that `end` was sent twice or for the wrong chat. Call `end` once, for a chat that was started.',
}
const LEVELS: { readonly [Id in keyof typeof ADVICE]?: Level } = { 'content-type': 'MUST' }

/** Reports calls that the platform accepted with a finding, once for each kind of finding. */
export const findingRules: readonly Rule[] = Object.entries(FINDINGS).map(
  ([platformRule, id]): Rule => ({
    id,
    level: LEVELS[id] ?? 'SHOULD',
    *judgeAll(history) {
      const groups = new Map<string, { readonly finding: CallRemark; readonly calls: CallEntry[] }>()
      /** Chats whose first answer of `end` a fault lost or damaged, so that a repetition is right. */
      const repeating = new Set<string | undefined>()
      for (const call of history.calls) {
        const isRepetition = call.endpoint === 'end' && repeating.has(call.chat_id)
        if (call.endpoint === 'end' && isFaulty(call)) repeating.add(call.chat_id)
        if (isRepetition) continue
        for (const finding of call.findings) {
          if (finding.rule !== platformRule) continue
          const key = `${history.conversationOf(call.chat_id)} ${call.endpoint} ${finding.message}`
          const group = groups.get(key) ?? { finding, calls: [] }
          group.calls.push(call)
          groups.set(key, group)
        }
      }
      for (const { finding, calls: entries } of groups.values()) {
        const [first] = entries
        const target = first?.endpoint ?? first?.path ?? ''
        yield {
          happened: `${target} (${listed(entries)}): ${finding.message} [${finding.rule}]`,
          hint: ADVICE[id],
          chat_id: first?.chat_id,
          details: { finding },
          entries,
        }
      }
    },
  }),
)

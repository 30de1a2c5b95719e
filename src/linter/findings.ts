/** What the platform forgave: findings of single calls, put together by what they say. */
import type { EntryOf, Finding } from '../journal/entry.ts'
import { type Found, type History, listed, type Rule, wasSpoilt } from './rule.ts'

/** The rule of the platform a finding names, and why it matters. Every rule that platform and API name is here. */
export const FINDINGS: Readonly<Record<string, { readonly id: string; readonly advice: string }>> = {
  ER1: {
    id: 'unknown-fields',
    advice:
      'The platform may refuse it one day, and a misspelt field has no effect (assumption `api.unknownFields`). Compare its name with docs/endpoints.md, or leave it out.',
  },
  'R-SENDER.4': {
    id: 'sender-incomplete',
    advice:
      'Send `sender` with `name` and `avatar` with every message (R-SENDER.3), for notices of the system as well.',
  },
  'E0.2': {
    id: 'content-type',
    advice: 'The real platform may not read the body at all. Send `Content-Type: application/json` with every call.',
  },
  E5: {
    id: 'end-without-takeover',
    advice:
      'What the platform does then is not stated (assumption `end.idle`), and it often means that `end` was sent twice or for the wrong chat. Call `end` once, for a chat that was started.',
  },
}

export const FINDING_RULES: readonly Rule[] = Object.entries(FINDINGS).map(([platformRule, { id, advice }]) => ({
  id,
  find: history => grouped(history, platformRule).map(([what, calls]) => told(history, what, calls, advice)),
}))

type Calls = EntryOf<'api'>[]

function grouped({ calls, conversationOf }: History, platformRule: string): [what: Finding, calls: Calls][] {
  const groups = new Map<string, [Finding, Calls]>()
  for (const call of calls) {
    if (call.endpoint === 'end' && isRepeated(calls, call)) continue
    for (const finding of call.findings.filter(({ rule }) => rule === platformRule)) {
      const key = `${conversationOf(call.chat_id)} ${call.endpoint} ${finding.message}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [finding, [call]])
      else group[1].push(call)
    }
  }
  return [...groups.values()]
}

const isRepeated = (calls: readonly EntryOf<'api'>[], { seq, chat_id }: EntryOf<'api'>): boolean =>
  calls.some(one => one.seq < seq && one.chat_id === chat_id && one.endpoint === 'end' && wasSpoilt(one))

function told({ conversationOf }: History, { message, rule }: Finding, calls: Calls, advice: string): Found {
  const marks = calls.map(({ seq }) => seq)
  const which = `${calls[0]!.endpoint ?? calls[0]!.path} (${listed(marks)})`
  return { message: `${which}: ${message} [${rule}] ${advice}`, conversation: conversationOf(calls[0]!.chat_id), marks }
}

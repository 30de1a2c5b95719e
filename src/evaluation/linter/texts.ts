/** Renders findings of the linter: what happened, why it matters, and what to do. */

import { formatDuration } from '../../base/text/quantities.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import { effectText } from '../../platform/wording/faults.ts'
import type { ForgivenCalls, LintFinding, LintRule, Secret, SecretPlace } from './lint.ts'

/** The text of a finding: three sentences or more. */
export function findingText(finding: LintFinding): string {
  const { rule, details } = finding as { [Id in LintRule]: LintFinding<Id> }[LintRule]
  switch (rule) {
    case 'message-after-end': {
      const { call, endSeq } = details
      return (
        `${callText(call)} came after the handover was ended with #${endSeq}. The bot answers the chat again, so the ` +
        'user gets answers from both. Send what is waiting before `end`, and drop later messages or show them to the agent.'
      )
    }
    case 'start-twice': {
      const { call, startSeq } = details
      return (
        `${callText(call)} was made although #${startSeq} had taken the chat over. The user reads the entering text ` +
        'twice, and what else the platform does is not stated (assumption `start.again`). Remember which chats are ' +
        'taken over, and for another agent send `message` with the new sender.'
      )
    }
    case 'typing-never-stopped': {
      const { call, timeoutMs } = details
      return (
        `${callText(call)} had ${timeoutMs === null ? 'no `timeout`' : `a \`timeout\` of ${timeoutMs} ms`}, and no ` +
        '`typing_stop` followed. The user still sees the typing indicator. Send a `timeout` of some seconds with ' +
        '`typing_start` and repeat the call while the agent types, or send `typing_stop`.'
      )
    }
    case 'chat-never-ended': {
      const { leaveSeq, refusedEnds } = details
      return (
        `The agent left (#${leaveSeq}) and ${refusedEnds === 0 ? '`end` was never called' : `no call of \`end\` succeeded (${refusedEnds} tried)`}. ` +
        'The chat stays taken over, so the bot does not answer and the user waits for an agent who left. Call `end` when ' +
        'the conversation is closed, and repeat it until it succeeds.'
      )
    }
    case 'call-before-ack': {
      const { call, event, deliverySeq, earlyMs } = details
      return (
        `${callText(call)} was made ${earlyMs} ms before the webhook answered ${event} (#${deliverySeq}). A platform ` +
        'that waits for the webhook before it serves the chat never answers that call, and a slow API makes the webhook ' +
        'time out. Store the event, answer 200, then call the API.'
      )
    }
    case 'ack-slower-than-retry': {
      const { event, timeoutMs, retryMs, deliverySeq, repeatedSeq } = details
      return (
        `The webhook did not answer ${event} (#${deliverySeq}) within ${formatDuration(timeoutMs)}, so it was sent again ` +
        `${formatDuration(retryMs)} later (#${repeatedSeq}). The intermediary received it twice, and may do the work twice: ` +
        'events have no id that shows a copy. Store the event, answer 200, then do the work.'
      )
    }
    case 'transcript-polling': {
      const { call, reads, withinMs } = details
      return (
        `${callText(call)} and ${reads - 1} more reads of the same chat came within ${(withinMs / 1000).toFixed(1)} s, ` +
        'with no event between them. On the real platform this is needless load and may exceed a limit. The webhook ' +
        'receives what the user writes; read the transcript once, when a handover begins.'
      )
    }
    case 'secret-exposed': {
      const { seq, secret, place } = details
      return (
        `#${seq} has ${SECRETS[secret]} in ${PLACES[place]}. ${READERS[place]} can use it to write to every chat of the ` +
        'bot, or to forge events. Send the key only in the Authorization header, and replace a key that was exposed.'
      )
    }
    case 'alias-mixed': {
      const { handoverSeqs, takeoverSeqs } = details
      return (
        `${handoverSeqs.length} calls went to /api/v2/handover/ (${listed(handoverSeqs)}) and ${takeoverSeqs.length} to ` +
        `/api/v2/takeover/ (${listed(takeoverSeqs)}). Both work today (V2), but logs, limits and a later migration are ` +
        'easier with one. Build every path from one base.'
      )
    }
    case 'reason-missing':
      return (
        `availability (${listed(details.seqs)}) had no \`reason\`. The platform asks for one where it is known [E3.4]. ` +
        'Send AGENT_AVAILABILITY, BUSINESS_HOURS or OTHER.'
      )
    case 'fault-unused': {
      const { fault, effect, seq } = details
      return (
        `The fault ${fault} (${effectText(effect)}), set with #${seq}, was not applied to any call or event, so the ` +
        'scenario does not test it. Set it before the call or event it is for, for the right chat, or remove it.'
      )
    }
    case 'unknown-fields':
      return (
        forgivenText(details) +
        'The platform may refuse it one day, and a misspelt field has no effect (assumption `api.unknownFields`). ' +
        'Compare its name with docs/reference/endpoints.md, or leave it out.'
      )
    case 'empty-fields':
      return (
        forgivenText(details) +
        'The platform describes the field as optional, and may refuse a null or an empty value (assumptions `api.nulls`, ' +
        '`api.emptyFields`). Leave the field out when it has no value.'
      )
    case 'sender-incomplete':
      return (
        forgivenText(details) +
        'Send `sender` with `name` and `avatar` with every message (R-SENDER.3), also with notices of the system.'
      )
    case 'content-type':
      return (
        forgivenText(details) +
        'The real platform may not read the body at all. Send `Content-Type: application/json` with every call.'
      )
    case 'end-without-takeover':
      return (
        forgivenText(details) +
        'What the platform does then is not stated (assumption `end.idle`), and it often means that `end` was sent ' +
        'twice or for the wrong chat. Call `end` once, for a chat that was started.'
      )
  }
}

const SECRETS: Readonly<Record<Secret['kind'], string>> = {
  api_key: 'an API key',
  signature: 'a webhook signature',
  parameter: 'a key or token',
}

const PLACES: Readonly<Record<SecretPlace, string>> = {
  text: 'a text',
  address: 'the address',
  webhook_answer: 'the answer to a webhook',
}

const READERS: Readonly<Record<SecretPlace, string>> = {
  text: 'Everyone who reads it, the user included,',
  address: 'Addresses are written to logs and proxies, and everyone who reads those',
  webhook_answer: 'Everyone who can call the webhook',
}

const forgivenText = ({ target, finding: { rule, message }, seqs }: ForgivenCalls): string =>
  `${target} (${listed(seqs)}): ${message} [${rule}] `

/** `#12 POST /api/v2/handover/start`. */
const callText = ({ seq, method, path }: Pick<EntryOf<'api'>, 'seq' | 'method' | 'path'>) => `#${seq} ${method} ${path}`

function listed(seqs: readonly number[]): string {
  const shown = seqs.slice(0, 5).map(seq => `#${seq}`)
  return seqs.length > 5 ? `${shown.join(', ')} and ${seqs.length - 5} more` : shown.join(', ')
}

/** Findings about attachments, translation, typing and availability, and about long texts. */

import { counted, formatDuration } from '../../../base/text/quantities.ts'
import type { DriverFailure } from '../../../platform/journal/run-failures.ts'
import { driverFailureText } from '../../../platform/wording/failures.ts'
import type { BrokenLink } from '../links.ts'
import { defineFindings } from './define.ts'

export interface DeskFindings {
  readonly 'files-missing': {
    readonly missing: readonly string[]
    /** `supports_attachment` was true. */
    readonly wasDeclared: boolean
    readonly withinMs: number
  }
  readonly 'files-order': { readonly expected: readonly string[]; readonly received: readonly string[] }
  readonly 'link-broken': BrokenLink
  readonly 'links-not-observed': { readonly names: readonly string[] }
  readonly 'languages-missing': { readonly isEmpty: boolean }
  readonly 'languages-copied': { readonly languages: readonly string[]; readonly language: string }
  readonly 'typing-not-ended': { readonly timeoutMs: number | null; readonly withinMs: number }
  readonly 'availability-missing': {
    readonly verb: 'away' | 'back'
    readonly wanted: 'OPEN' | 'CLOSED'
    /** What the platform had before. */
    readonly before: 'OPEN' | 'CLOSED'
    readonly received: readonly { readonly status: number; readonly availability: string | null }[]
    readonly withinMs: number
  }
  readonly 'reason-missing': { readonly calls: number }
  readonly 'long-text-refused': { readonly failure: DriverFailure | null }
  readonly 'long-text-split': { readonly parts: number }
}

export const DESK_FINDINGS = defineFindings<DeskFindings>({
  'files-missing': {
    happened: ({ missing, wasDeclared, withinMs }) =>
      `The agent does not see ${missing.join(', ')} within ${formatDuration(withinMs)}${wasDeclared ? '.' : '; start was called without supports_attachment: true.'}`,
    expected: 'The agent sees every file of the user by its name, also one that comes without a text (EV5).',
    next: ({ wasDeclared }) =>
      wasDeclared
        ? 'Look how the event is read: `attachments` may come with an empty `message`, which is not an empty event.'
        : 'Send `supports_attachment: true` with start: without it the platform leaves the files out of its events.',
  },
  'files-order': {
    happened: ({ expected, received }) =>
      `The agent sees ${received.join(', ')}; the order was ${expected.join(', ')}.`,
    expected: 'The agent sees the files in the order in which the user sent them.',
    next: 'Keep the order of `attachments`, and do not handle the files of one message at the same time.',
  },
  'link-broken': {
    happened: ({ name, url, status }) =>
      url === ''
        ? `The agent sees ${name} without a link.`
        : `The link of ${name} that the agent sees, ${url}, ${status === null ? 'does not open' : `answers ${status}`}.`,
    expected: 'The agent can open every file.',
    next: 'Pass the `url` of the attachment on unchanged, or download the file and store it where agents can read it.',
  },
  'links-not-observed': {
    happened: ({ names }) =>
      `The inbox of the agent driver has no complete link for ${names.join(', ')}, so the check did not open any of these.`,
    expected: 'The agent can open every file.',
    next: 'Return the `url` of each attachment from the inbox, with scheme and host, or open the files in the help desk by hand.',
  },
  'languages-missing': {
    happened: ({ isEmpty }) =>
      isEmpty ? 'start had an empty list as sender.language_codes.' : 'start had no list as sender.language_codes.',
    expected: 'start names the languages that the agent speaks, which turns live translation on (R-SENDER.5).',
    next: 'Send `sender: { language_codes: ["en"] }` with the languages of the agent, or declare `translation: false`.',
  },
  'languages-copied': {
    happened: ({ languages, language }) =>
      `start named ${languages.join(', ')} as languages of the agent in a chat in ${language}, so nothing is translated.`,
    expected: 'start names the languages that the agent speaks, not that of the chat.',
    next: 'Take the languages from the profile of the agent; the platform compares them with the language of the chat.',
  },
  'typing-not-ended': {
    happened: ({ timeoutMs, withinMs }) =>
      `typing_start had ${timeoutMs === null ? 'no timeout' : `a timeout of ${timeoutMs} ms`}, and no typing_stop, message or end came within ${formatDuration(withinMs)}.`,
    expected: 'The typing indicator ends when the agent is idle: without a timeout it stays until typing_stop (E7.5).',
    next: 'Send a timeout such as 10000 with typing_start, and send it again while the agent types.',
  },
  'availability-missing': {
    happened: ({ verb, wanted, before, received, withinMs }) =>
      `No accepted call of availability with ${wanted} came within ${formatDuration(withinMs)} after all agents were ${verb}, while handover was ${before}${received.length === 0 ? '.' : `; received: ${received.map(({ status, availability }) => `${availability ?? 'no availability'} (answered ${status})`).join(', ')}.`}`,
    expected:
      'The intermediary sends CLOSED when no agent is there and OPEN when one is back: time alone reopens nothing (ST25).',
    next: ({ wanted }) =>
      wanted === 'OPEN'
        ? 'Send OPEN with every return of an agent, also when you believe that handover is open.'
        : 'Send CLOSED when the last agent goes away: users would wait for an agent who is not there.',
  },
  'reason-missing': {
    happened: ({ calls }) => `${counted(calls, 'call')} of availability had no reason.`,
    expected: 'The reason is given when it is known: AGENT_AVAILABILITY, BUSINESS_HOURS or OTHER (E3.4).',
    next: 'Send `reason: "AGENT_AVAILABILITY"` when agents come and go.',
  },
  'long-text-refused': {
    happened: ({ failure }) =>
      `The help desk did not take a message of 64 KB from the agent${failure === null ? '' : `: ${driverFailureText(failure)}`}.`,
    expected: 'A long text arrives whole, or the agent is told that it is too long.',
    next: 'Nothing must be changed, if the agent sees the error.',
  },
  'long-text-split': {
    happened: ({ parts }) => `A message of 64 KB was sent as ${counted(parts, 'message')}.`,
    expected: 'A long text arrives whole, in one message or in several.',
    next: 'Nothing must be changed.',
  },
})

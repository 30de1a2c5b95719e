/** Renders why a delivery, a connection, a driver call, a start of the target, a step or a scenario failed. */

import type { CertificateProblem, ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import { shortName } from '../../base/text/error-text.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { WaitUntilNote } from '../journal/journal.ts'
import type {
  DriverFailure,
  EarlyEnd,
  ProcessFailure,
  StepFailure,
  TargetFailure,
  TargetOutput,
} from '../journal/run-failures.ts'

/** `nothing listens at 127.0.0.1:3000 (ECONNREFUSED)`. A saved journal may have codes of another version. */
export function failureText(given: { readonly code: string } | undefined): string {
  const failure = given as DeliveryFailure | ConnectionFailure | undefined
  switch (failure?.code) {
    case 'connection_refused':
      return `nothing listens at ${failure.target} (${failure.system_code})`
    case 'connection_reset':
      return `connection reset by ${failure.target} before a complete answer (${failure.system_code})`
    case 'connection_closed':
      return `connection closed by ${failure.target} before a complete answer (${failure.system_code})`
    case 'connect_timeout':
      return `timeout: no connection to ${failure.target} (${failure.system_code})`
    case 'no_route':
      return `no route to ${failure.target} (${failure.system_code})`
    case 'dns_not_found':
      return `DNS: no such host for ${failure.target} (${failure.system_code})`
    case 'dns_no_answer':
      return `DNS: no answer for ${failure.target} (${failure.system_code})`
    case 'no_tls':
      return `TLS: ${failure.target} does not speak HTTPS (${failure.system_code})`
    case 'too_many_open_files':
      return `no connection to ${failure.target}: handover-sim has too many open files (${failure.system_code}); raise the limit with ulimit -n`
    case 'headers_too_long':
      return `the answer of ${failure.target} has too many or too long headers (${failure.system_code})`
    case 'tls':
      return `TLS: ${failure.detail} (${failure.system_code})`
    case 'not_http':
      return `not HTTP: ${failure.target} answered something else (${failure.detail})`
    case 'network':
      return `${failure.target}: ${failure.detail}${failure.system_code === undefined ? '' : ` (${failure.system_code})`}`
    case 'timeout': {
      const { timeout_ms: ms } = failure
      return `timeout: no complete answer within ${ms < 1000 ? `${ms} ms` : formatDuration(ms)}`
    }
    case 'sender_closed':
      return 'the sender of the request closed the connection before the answer was complete'
    case 'cancelled':
      return 'cancelled by a reset'
    case 'no_sockets':
      return 'a browser has no sockets: this fault needs Node'
    case 'function_threw':
      return `the webhook function threw: ${failure.detail}${failure.place === undefined ? '' : ` at ${failure.place}`}`
    case 'function_returned_no_response':
      return 'the webhook function did not return a Response'
    case 'function_reused_response':
      return 'the webhook function returned a Response whose body was read before: it has to make a new one each time'
    case 'lambda_answer_invalid':
      return `the Lambda handler gave no usable answer: ${failure.detail}`
    case 'no_url':
      return 'no webhook URL is set'
    case 'internal_error':
      return 'internal error of handover-sim; the entry internal_error before has the details'
    case 'queue_full':
      return `the events that wait for the webhook take ${failure.limit_bytes} bytes (memoryLimit), so this one is not sent`
    case 'redirect': {
      let why = 'redirects are not followed'
      if (failure.location !== undefined)
        why = `its Location ${JSON.stringify(shortName(failure.location))} is no http or https URL`
      else if (failure.followed) why = 'it has no Location, or is one too many in a row'
      return `answered with a redirect (${failure.status}); ${why}`
    }
    case 'not_acknowledged': {
      const { status } = failure
      return `answered ${status}; ${failureBesideStatus(failure)}${status === 404 ? '; check the path of the webhook' : ''}`
    }
    default:
      return 'no cause is recorded'
  }
}

/** `a promise that the webhook gave to waitUntil for MESSAGE FROM USER rejected: no desk at worker.ts:12:5` */
export function waitUntilText(note: WaitUntilNote): string {
  const promise = `a promise that the webhook gave to waitUntil for ${note.event}`
  if (note.code === 'unfinished') return `${promise} had not ended after ${formatDuration(note.timeout_ms)}`
  return `${promise} rejected: ${note.detail}${note.place === undefined ? '' : ` at ${note.place}`}`
}

/** For a place that shows the status already. */
export const failureBesideStatus = (failure: DeliveryFailure | ConnectionFailure | undefined): string =>
  failure?.code === 'not_acknowledged' ? `only 200 acknowledges ${failure.event}` : failureText(failure)

/** For a connection that ended before an answer, where none ever came; null for an address without http. */
export const httpsHint = (url: string | null): string | null =>
  /^http:/i.test(url ?? '') ? `Perhaps it speaks HTTPS: try ${visible(String(url).replace(/^http/i, 'https'))}.` : null

/** What to try when the certificate of the webhook is refused. */
export const TLS_HINTS = {
  certificate_untrusted:
    'The certificate is not trusted: use http on this machine, or start with NODE_EXTRA_CA_CERTS=ca.pem.',
  certificate_name:
    'The certificate is for other hosts: use one of them in the URL, or make a certificate for this host.',
  certificate_date: 'The certificate is not valid today: make a new one, or correct the clock of this machine.',
} satisfies Readonly<Record<CertificateProblem, string>>

const exitText = ({ exit_code, signal }: Pick<Extract<ProcessFailure, { code: 'exited' }>, 'exit_code' | 'signal'>) =>
  signal ?? `exit code ${exit_code}`

function processFailureText(failure: ProcessFailure): string {
  switch (failure.code) {
    case 'program_not_found':
      return `${JSON.stringify(failure.program)} cannot be started: there is no such program`
    case 'program_not_executable':
      return `${JSON.stringify(failure.program)} cannot be started: it may not be executed`
    case 'folder_not_found':
      return `its folder ${failure.folder} does not exist`
    case 'program_not_started':
      return `${JSON.stringify(failure.program)} cannot be started: ${failure.detail}`
    case 'exited':
      return `it ended with ${exitText(failure)}`
  }
}

const INBOX = 'the inbox must be a list of { request?, text?, attachments? }'
const INBOX_FIELDS = {
  request: 'request must be true, false or left out',
  text: 'text must be a string or left out',
  attachments: 'attachments must be a list of objects or left out',
}
const UNFINISHED = { http: 'no answer', command: 'the command was not finished', function: 'not finished' }

/** `answered 409: {"error":"taken"}` */
export function driverFailureText(failure: DriverFailure): string {
  switch (failure.code) {
    case 'program_not_found':
    case 'program_not_executable':
    case 'folder_not_found':
    case 'program_not_started':
    case 'exited':
      return processFailureText(failure)
    case 'command_failed': {
      const end = processFailureText({ ...failure, code: 'exited' })
      return failure.output === '' ? end : `${end}: ${failure.output}`
    }
    case 'no_verb':
      return `${failure.driver} has no verb ${failure.verb}`
    case 'no_terminal':
      return 'manual needs a terminal'
    case 'run_ended':
      return 'interrupted, because the run is over'
    case 'call_timeout':
      return `timeout: ${UNFINISHED[failure.call]} within ${formatDuration(failure.timeout_ms)}`
    case 'status': {
      const { status, location, body } = failure
      const redirect = location === undefined ? '' : ` (a redirect to ${location}, which is not followed)`
      return `answered ${status}${redirect}${body === '' ? '' : `: ${body}`}`
    }
    case 'too_long':
      return failure.status === null ? 'printed more than 1 MiB' : `answered ${failure.status} with more than 1 MiB`
    case 'not_an_address':
      return `${JSON.stringify(failure.address)} is not an http address`
    case 'not_sendable':
      return `cannot be sent: ${failure.detail}`
    case 'unsafe_path_value':
      return `$(${failure.name}) is ${JSON.stringify(failure.value)}, which cannot stand in an address`
    case 'not_interpolated':
      return failure.detail
    case 'threw':
      return `threw ${JSON.stringify(failure.detail)}${failure.place === undefined ? '' : ` (${failure.place})`}`
    case 'person_reported_failure':
      return 'the person at the terminal reported a failure'
    case 'prompt_failed':
      return `the terminal cannot be asked: ${failure.detail}`
    case 'inbox_not_json':
      return `${INBOX}, as JSON; received ${failure.received}`
    case 'inbox_not_list':
      return `${INBOX}, received ${failure.received}`
    case 'inbox_item': {
      const problem = failure.field === null ? 'must be an object' : INBOX_FIELDS[failure.field]
      return `${INBOX}; item ${failure.item}: ${problem}, received ${failure.received}`
    }
    default:
      return failureText(failure)
  }
}

/** `it ended with exit code 7` */
export function targetFailureText(failure: TargetFailure): string {
  switch (failure.code) {
    case 'address_in_use':
      return `another program answers at ${failure.address} already; stop it first`
    case 'not_ready': {
      const { within_ms, address = 'it', last } = failure
      const text = `${address} was not ready within ${formatDuration(within_ms)}`
      if (last === undefined) return text
      return `${text}; at last: ${last.code === 'status' ? `it answered ${last.status}` : failureText(last)}`
    }
    case 'run_ended':
      return 'the run is over'
    case 'gone':
      return `right after that, nothing listened at ${failure.address} for a while`
    case 'not_installed':
      return 'it is not part of this installation'
    default:
      return processFailureText(failure)
  }
}

/** `the intermediary ended by itself with exit code 7` */
export const endedText = (failure: TargetFailure, subject = 'the intermediary '): string =>
  `${subject}ended by itself${failure.code === 'exited' ? ` with ${exitText(failure)}` : `: ${targetFailureText(failure)}`}`

/** `The target did not start: it was not ready within 15s. Its last output: ...` */
export const targetNotStartedText = (name: string, failure: TargetFailure, output: string): string =>
  withOutput(`${name} did not start: ${targetFailureText(failure)}`, output)

/** `The target ended during the run: it ended with exit code 7.` With its output where no file has it. */
export function targetEndedText(name: string, { ended, lines, file }: TargetOutput & { ended: TargetFailure }): string {
  const text = `${name} ended during the run: ${targetFailureText(ended)}`
  return file === null ? withOutput(text, lines.join('\n')) : `${text}. Its output is in ${file}.`
}

const withOutput = (sentence: string, output: string): string =>
  output === '' ? `${sentence}.` : `${sentence}. Its last output:\n${output.split('\n').map(visible).join('\n')}`

export function stepFailureText(failure: StepFailure): string {
  switch (failure.code) {
    case 'target_not_started':
      return targetNotStartedText(failure.target, failure.failure, failure.output)
    case 'attachment_unreadable':
      return `Failed to read the attachment ${JSON.stringify(failure.file)}: ${failure.detail}`
    case 'bot_silent':
      return 'The bot is silent while an agent has the chat.'
    case 'no_chat':
      return `There is no chat ${JSON.stringify(failure.conversation)}.`
    case 'nothing_to_resend':
      return `Step ${JSON.stringify(failure.step)} sent no event that could be sent again.`
    case 'not_accepted':
    case 'not_interpolated':
      return failure.detail
    default:
      return ''
  }
}

/** `took longer than 60s` */
export function earlyEndText(end: EarlyEnd): string {
  switch (end.code) {
    case 'time_limit':
      return `took longer than ${formatDuration(end.limit_ms)}`
    case 'run_time_limit':
      return `the run took longer than ${formatDuration(end.limit_ms)} (--timeout)`
    case 'failure_limit':
      return `${counted(end.failures, 'scenario')} failed or could not be run (--bail ${end.failures}), so no other one was started`
    case 'check_limit':
      return `${counted(end.failures, 'check')} failed (--bail ${end.failures}), so no other one was started`
    case 'target_unreachable': {
      const { during } = end
      const advice =
        during === undefined ? 'Look at the last checks that have an entry' : `Look at ${during.join(', ')}`
      return `the intermediary is gone: ${failureText(end.failure)}. ${advice}, and in its log, for what ended it`
    }
    case 'target_not_restarted':
      return `the intermediary ended, and could not be started again: ${stepFailureText(end.failure)}`
    case 'target_silent':
      return `the intermediary answered no event of ${counted(end.checks, 'check')} in a row. Look whether its webhook answers requests at all, and whether it waits for something that does not come`
    case 'interrupted':
      return end.signal === undefined ? 'interrupted' : `interrupted by ${end.signal}`
    default:
      return ''
  }
}

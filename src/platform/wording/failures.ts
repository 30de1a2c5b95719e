/** Renders why a delivery, a connection, a driver call, a start of the target, a step or a scenario failed. */

import type { CertificateProblem, ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { type Text, textFor } from '../../base/text/texts.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { DriverFailure, EarlyEnd, StepFailure, TargetFailure } from '../journal/run-failures.ts'

type Failure = DeliveryFailure | ConnectionFailure
type Of<Code extends Failure['code']> = Extract<Failure, { code: Code }>
type Texts = { readonly [Code in Failure['code']]: string | ((failure: Of<Code>) => string) }

const acknowledges = (event: string) => `only 200 acknowledges ${event}`

const FAILURES = {
  connection_refused: ({ target, system_code }: Of<'connection_refused'>) =>
    `nothing listens at ${target} (${system_code})`,
  connection_reset: ({ target, system_code }: Of<'connection_reset'>) =>
    `connection reset by ${target} before a complete answer (${system_code})`,
  connection_closed: ({ target, system_code }: Of<'connection_closed'>) =>
    `connection closed by ${target} before a complete answer (${system_code})`,
  connect_timeout: ({ target, system_code }: Of<'connect_timeout'>) =>
    `timeout: no connection to ${target} (${system_code})`,
  no_route: ({ target, system_code }: Of<'no_route'>) => `no route to ${target} (${system_code})`,
  dns_not_found: ({ target, system_code }: Of<'dns_not_found'>) => `DNS: no such host for ${target} (${system_code})`,
  dns_no_answer: ({ target, system_code }: Of<'dns_no_answer'>) => `DNS: no answer for ${target} (${system_code})`,
  no_tls: ({ target, system_code }: Of<'no_tls'>) => `TLS: ${target} does not speak HTTPS (${system_code})`,
  too_many_open_files: ({ target, system_code }: Of<'too_many_open_files'>) =>
    `no connection to ${target}: handover-sim has too many open files (${system_code}); raise the limit with ulimit -n`,
  headers_too_long: ({ target, system_code }: Of<'headers_too_long'>) =>
    `the answer of ${target} has too many or too long headers (${system_code})`,
  tls: ({ detail, system_code }: Of<'tls'>) => `TLS: ${detail} (${system_code})`,
  not_http: ({ target, detail }: Of<'not_http'>) => `not HTTP: ${target} answered something else (${detail})`,
  network: ({ target, detail, system_code }: Of<'network'>) =>
    `${target}: ${detail}${system_code === undefined ? '' : ` (${system_code})`}`,
  timeout: ({ timeout_ms }: Of<'timeout'>) =>
    `timeout: no complete answer within ${timeout_ms < 1000 ? `${timeout_ms} ms` : formatDuration(timeout_ms)}`,
  cancelled: 'cancelled by a reset',
  no_sockets: 'a browser has no sockets: this fault needs Node',
  function_threw: ({ detail, place }: Of<'function_threw'>) =>
    `the webhook function threw: ${detail}${place === undefined ? '' : ` at ${place}`}`,
  function_returned_no_response: 'the webhook function did not return a Response',
  function_reused_response:
    'the webhook function returned a Response whose body was read before: it has to make a new one each time',
  no_url: 'no webhook URL is set',
  internal_error: 'internal error of handover-sim; the entry internal_error before has the details',
  queue_full: ({ limit_bytes }: Of<'queue_full'>) =>
    `the events that wait for the webhook take ${limit_bytes} bytes (memoryLimit), so this one is not sent`,
  redirect: ({ status, followed }: Of<'redirect'>) =>
    followed
      ? `answered with a redirect (${status}); it has no usable Location, or is one too many in a row`
      : `answered with a redirect (${status}); redirects are not followed`,
  not_acknowledged: ({ status, event }: Of<'not_acknowledged'>) =>
    `answered ${status}; ${acknowledges(event)}${status === 404 ? '; check the path of the webhook' : ''}`,
} satisfies Texts

const FAILURE_TEXTS = FAILURES

/** What to try when the certificate of the webhook is refused. */
export const TLS_HINTS = {
  certificate_untrusted:
    'The certificate is not trusted: use http on this machine, or start with NODE_EXTRA_CA_CERTS=ca.pem.',
  certificate_name:
    'The certificate is for other hosts: use one of them in the URL, or make a certificate for this host.',
  certificate_date: 'The certificate is not valid today: make a new one, or correct the clock of this machine.',
} satisfies Readonly<Record<CertificateProblem, string>>

const OTHER = {
  acknowledges,
}

/** `nothing listens at 127.0.0.1:3000 (ECONNREFUSED)` */
export const failureText = (failure: { readonly code: string } | undefined): string =>
  (failure && textFor(FAILURE_TEXTS, failure.code, failure)) ?? 'no cause is recorded'

/** For a place that shows the status already. */
export const failureBesideStatus = (failure: Failure | undefined): string =>
  failure?.code === 'not_acknowledged' ? OTHER.acknowledges(failure.event) : failureText(failure)

type Table<Failure extends { readonly code: string }> = {
  readonly [Code in Failure['code']]: string | ((failure: Extract<Failure, { code: Code }>) => string)
}

/** `it ended with SIGKILL` */
const exited = ({ exit_code, signal }: { exit_code: number | null; signal: string | null }) =>
  `it ended with ${signal ?? `exit code ${exit_code}`}`

const PROCESS = {
  program_not_found: ({ program }: { program: string }) =>
    `${JSON.stringify(program)} cannot be started: there is no such program`,
  program_not_executable: ({ program }: { program: string }) =>
    `${JSON.stringify(program)} cannot be started: it may not be executed`,
  folder_not_found: ({ folder }: { folder: string }) => `its folder ${folder} does not exist`,
  program_not_started: ({ program, detail }: { program: string; detail: string }) =>
    `${JSON.stringify(program)} cannot be started: ${detail}`,
  exited,
}

const RUN_ENDED = 'interrupted, because the run is over'
const INBOX = 'the inbox must be a list of { request?, text?, attachments? }'
const INBOX_FIELDS = {
  request: 'request must be true, false or left out',
  text: 'text must be a string or left out',
  attachments: 'attachments must be a list of objects or left out',
}
const UNFINISHED = { http: 'no answer', command: 'the command was not finished', function: 'not finished' }

const DRIVER = {
  ...PROCESS,
  command_failed: ({ output, ...end }) => (output === '' ? exited(end) : `${exited(end)}: ${output}`),
  no_verb: ({ driver, verb }) => `${driver} has no verb ${verb}`,
  no_terminal: 'manual needs a terminal',
  run_ended: RUN_ENDED,
  call_timeout: ({ timeout_ms, call }) => `timeout: ${UNFINISHED[call]} within ${formatDuration(timeout_ms)}`,
  status: ({ status, location, body }) =>
    `answered ${status}${location === undefined ? '' : ` (a redirect to ${location}, which is not followed)`}` +
    (body === '' ? '' : `: ${body}`),
  too_long: ({ status }) => (status === null ? 'printed more than 1 MiB' : `answered ${status} with more than 1 MiB`),
  not_an_address: ({ address }) => `${JSON.stringify(address)} is not an http address`,
  not_sendable: ({ detail }) => `cannot be sent: ${detail}`,
  unsafe_path_value: ({ name, value }) => `$(${name}) is ${JSON.stringify(value)}, which cannot stand in an address`,
  not_interpolated: ({ detail }) => detail,
  threw: ({ detail, place }) => `threw ${JSON.stringify(detail)}${place === undefined ? '' : ` (${place})`}`,
  person_reported_failure: 'the person at the terminal reported a failure',
  prompt_failed: ({ detail }) => `the terminal cannot be asked: ${detail}`,
  inbox_not_json: ({ received }) => `${INBOX}, as JSON; received ${received}`,
  inbox_not_list: ({ received }) => `${INBOX}, received ${received}`,
  inbox_item: ({ item, field, received }) =>
    `${INBOX}; item ${item}: ${field === null ? 'must be an object' : INBOX_FIELDS[field]}, received ${received}`,
} satisfies Table<Exclude<DriverFailure, ConnectionFailure>>

const TARGET = {
  ...PROCESS,
  address_in_use: ({ address }) => `another program answers at ${address} already; stop it first`,
  not_ready: ({ within_ms, address, last }) =>
    `${address === undefined ? 'it' : address} was not ready within ${formatDuration(within_ms)}` +
    (last === undefined
      ? ''
      : `; at last: ${last.code === 'status' ? `it answered ${last.status}` : failureText(last)}`),
  run_ended: 'the run is over',
  not_installed: 'it is not part of this installation',
} satisfies Table<TargetFailure>

const STEP = {
  target_not_started: ({ target, failure, output }) => targetNotStartedText(target, failure, output),
  attachment_unreadable: ({ file, detail }) => `Failed to read the attachment ${JSON.stringify(file)}: ${detail}`,
  bot_silent: 'The bot is silent while an agent has the chat.',
  no_chat: ({ conversation }) => `There is no chat ${JSON.stringify(conversation)}.`,
  nothing_to_resend: ({ step }) => `Step ${JSON.stringify(step)} sent no event that could be sent again.`,
  not_accepted: ({ detail }) => detail,
  not_interpolated: ({ detail }) => detail,
} satisfies Table<StepFailure>

const EARLY_END = {
  time_limit: ({ limit_ms }) => `took longer than ${formatDuration(limit_ms)}`,
  run_time_limit: ({ limit_ms }) => `the run took longer than ${formatDuration(limit_ms)} (--timeout)`,
  failure_limit: ({ failures }) =>
    `${counted(failures, 'scenario')} failed or could not be played (--bail ${failures}), so no other one was started`,
  check_limit: ({ failures }) =>
    `${counted(failures, 'check')} failed (--bail ${failures}), so no other one was started`,
  target_unreachable: ({ failure, during }) =>
    `the intermediary is gone: ${failureText(failure)}. ${
      during === undefined
        ? 'Look at the last checks that have an entry'
        : `These checks ran when it ended: ${during.join(', ')}. Look at their entries`
    }, and in its log, for what ended it`,
  target_not_restarted: ({ failure }) =>
    `the intermediary ended, and could not be started again: ${textOf(STEP, failure)}`,
  target_silent: ({ checks }) =>
    `the intermediary answered no event of ${counted(checks, 'check')} in a row. Look whether its webhook answers requests at all, and whether it waits for something that does not come`,
  interrupted: ({ signal }) => (signal === undefined ? 'interrupted' : `interrupted by ${signal}`),
} satisfies Table<EarlyEnd>

/** `answered 409: {"error":"taken"}` */
export const driverFailureText = (failure: DriverFailure): string =>
  textFor(DRIVER, failure.code, failure) ?? failureText(failure)

/** `The target did not start: it was not ready within 15s. Its last output: ...` */
export const targetNotStartedText = (name: string, failure: TargetFailure, output: string): string =>
  withOutput(`${name} did not start: ${textOf(TARGET, failure)}`, output)

/** `The target ended during the run: it ended with exit code 7.` */
export const targetEndedText = (name: string, failure: TargetFailure, output: string): string =>
  withOutput(`${name} ended during the run: ${textOf(TARGET, failure)}`, output)

const withOutput = (sentence: string, output: string): string =>
  output === '' ? `${sentence}.` : `${sentence}. Its last output:\n${output}`

/** `it ended with exit code 7` */
export const targetFailureText = (failure: TargetFailure): string => textOf(TARGET, failure)

export const stepFailureText = (failure: StepFailure): string => textOf(STEP, failure)

/** `took longer than 60s` */
export const earlyEndText = (end: EarlyEnd): string => textOf(EARLY_END, end)

const textOf = (table: Readonly<Record<string, Text>>, failure: { readonly code: string }): string =>
  textFor(table, failure.code, failure) ?? ''

/** Types why a part of a scenario run failed, as codes with parameters. `wording/run-failures.ts` has the texts. */
import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'

/** A program of the user that was not started, or that ended. */
export type ProcessFailure =
  | { readonly code: 'program_not_found'; readonly program: string }
  | { readonly code: 'program_not_executable'; readonly program: string }
  | { readonly code: 'folder_not_found'; readonly folder: string }
  | { readonly code: 'program_not_started'; readonly program: string; readonly detail: string }
  | { readonly code: 'exited'; readonly exit_code: number | null; readonly signal: string | null }

/** What an inbox read returned instead of a list of items. `received` is shown as it is. */
export type InboxFailure =
  | { readonly code: 'inbox_not_json'; readonly received: string }
  | { readonly code: 'inbox_not_list'; readonly received: string }
  | {
      readonly code: 'inbox_item'
      /** 1 for the first. */
      readonly item: number
      /** Null: the item itself is no object. */
      readonly field: 'request' | 'text' | 'attachments' | null
      readonly received: string
    }

const INBOX_FAILURES: Readonly<Record<InboxFailure['code'], true>> = {
  inbox_not_json: true,
  inbox_not_list: true,
  inbox_item: true,
}

/** Whether an inbox read returned something else than an inbox: a mistake of the driver, which says nothing of the intermediary. */
export const isInboxFailure = (failure: { readonly code: string } | null | undefined): boolean =>
  failure != null && Object.hasOwn(INBOX_FAILURES, failure.code)

/** Why a call of the agent driver failed. */
export type DriverFailure =
  | ConnectionFailure
  | ProcessFailure
  | InboxFailure
  /** The command ended with another code than 0. `output` is the end of one of its streams. */
  | {
      readonly code: 'command_failed'
      readonly exit_code: number | null
      readonly signal: string | null
      readonly stream: 'stdout' | 'stderr'
      readonly output: string
    }
  | { readonly code: 'no_verb'; readonly driver: string; readonly verb: string }
  | { readonly code: 'no_terminal' }
  | { readonly code: 'run_ended' }
  | { readonly code: 'call_timeout'; readonly timeout_ms: number; readonly call: 'http' | 'command' | 'function' }
  | { readonly code: 'status'; readonly status: number; readonly location?: string; readonly body: string }
  /** More than 1 MiB; `status` is null for the output of a command. */
  | { readonly code: 'too_long'; readonly status: number | null }
  | { readonly code: 'not_an_address'; readonly address: string }
  | { readonly code: 'not_sendable'; readonly detail: string }
  /** A path segment of dots would lead to another address. */
  | { readonly code: 'unsafe_path_value'; readonly name: string; readonly value: string }
  | { readonly code: 'not_interpolated'; readonly detail: string }
  | { readonly code: 'threw'; readonly detail: string; readonly place?: string }
  | { readonly code: 'person_reported_failure' }
  | { readonly code: 'prompt_failed'; readonly detail: string }

/** Why the intermediary was not started, or ended by itself. */
export type TargetFailure =
  | ProcessFailure
  | { readonly code: 'address_in_use'; readonly address: string }
  /** `address` and `last` are absent for a target that prints its address. */
  | {
      readonly code: 'not_ready'
      readonly within_ms: number
      readonly address?: string
      readonly last?: ConnectionFailure | { readonly code: 'status'; readonly status: number }
    }
  | { readonly code: 'run_ended' }
  | { readonly code: 'not_installed' }
  /** Nothing listened for a while; something else started it again. */
  | { readonly code: 'gone'; readonly address: string }

/** What the target printed last. */
export interface TargetOutput {
  /** How it ended by itself; null when it did not. */
  readonly ended: TargetFailure | null
  /** Oldest first. */
  readonly lines: readonly string[]
  /** The file with all of its output; null when there is none. */
  readonly file: string | null
}

/** Why the runner could not execute a step. */
export type StepFailure =
  /** An error of the environment, and not of the intermediary. */
  | {
      readonly code: 'target_not_started'
      readonly target: string
      readonly failure: TargetFailure
      readonly output: string
    }
  | { readonly code: 'attachment_unreadable'; readonly file: string; readonly detail: string }
  | { readonly code: 'bot_silent' }
  | { readonly code: 'no_chat'; readonly conversation: string }
  | { readonly code: 'nothing_to_resend'; readonly step: string }
  /** The simulator does not accept the action of the user, or the fault. */
  | { readonly code: 'not_accepted'; readonly detail: string }
  | { readonly code: 'not_interpolated'; readonly detail: string }

/** Why a scenario, or a run, ended before its last step. */
export type EarlyEnd =
  /** The scenario took longer than its own time limit. */
  | { readonly code: 'time_limit'; readonly limit_ms: number }
  | { readonly code: 'run_time_limit'; readonly limit_ms: number }
  /** Scenarios have failed, as many as a run may have. */
  | { readonly code: 'failure_limit'; readonly failures: number }
  /** Checks of a certification have failed, as many as a run may have. */
  | { readonly code: 'check_limit'; readonly failures: number }
  /** Nothing listens at the target any more. `during`: the checks that ran when it ended. */
  | { readonly code: 'target_unreachable'; readonly failure: ConnectionFailure; readonly during?: readonly string[] }
  /** The target ended by itself, and could not be started again. */
  | { readonly code: 'target_not_restarted'; readonly failure: StepFailure }
  /** The target answered no event of so many checks in a row. */
  | { readonly code: 'target_silent'; readonly checks: number }
  | { readonly code: 'interrupted'; readonly signal?: string }

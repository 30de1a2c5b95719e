/** Defines the error codes and their usual status. The platform publishes neither (ER4), so every error response names its assumptions in a header. */
import type { AssumptionName } from './assumptions.ts'

export const ERRORS = {
  invalid_json: { status: 400, assumed: 'errors.body' },
  invalid_parameter: { status: 400, assumed: 'errors.body' },
  precondition_failed: { status: 400, assumed: 'summarize.errorStatus' },
  unauthorized: { status: 401, assumed: 'errors.body' },
  missing_scope: { status: 403, assumed: 'keys.shared' },
  path_not_found: { status: 404, assumed: 'errors.body' },
  chat_not_found: { status: 404, assumed: 'errors.body' },
  bot_not_found: { status: 404, assumed: 'errors.body' },
  user_left: { status: 404, assumed: 'errors.body' },
  id_mismatch: { status: 404, assumed: 'errors.idMismatch' },
  file_not_found: { status: 404, assumed: 'errors.body' },
  method_not_allowed: { status: 405, assumed: 'errors.body' },
  conflict: { status: 409, assumed: 'errors.body' },
  payload_too_large: { status: 413, assumed: 'errors.body' },
  unsupported_media_type: { status: 415, assumed: 'api.contentType' },
  rate_limited: { status: 429, assumed: 'limits.rate' },
} as const satisfies Record<string, { status: number; assumed: AssumptionName }>
/** A code of `ERRORS`. */
export type ErrorCode = keyof typeof ERRORS

/** The response header that names the assumptions a response depends on: defaults of the simulator, not rules of the platform. */
export const UNSPECIFIED_HEADER = 'x-handover-sim-unspecified'

/** The response header of an internal error of the simulator; the body never has the form of the platform. */
export const INTERNAL_HEADER = 'x-handover-sim-internal-error'

/** Names the faults applied to a call, on every answer that is sent. */
export const FAULT_HEADER = 'x-handover-sim-fault'

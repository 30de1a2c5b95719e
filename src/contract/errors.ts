/**
 * Error codes and their usual status. The platform publishes neither (ER4): all of this is assumption 10,
 * and every answer built from it says so in a header.
 */
import * as z from 'zod/mini'

export const ERRORS = {
  invalid_json: { status: 400, row: 10 },
  invalid_parameter: { status: 400, row: 10 },
  precondition_failed: { status: 400, row: 11 },
  unauthorized: { status: 401, row: 10 },
  missing_scope: { status: 403, row: 42 },
  path_not_found: { status: 404, row: 10 },
  chat_not_found: { status: 404, row: 10 },
  bot_not_found: { status: 404, row: 10 },
  id_mismatch: { status: 404, row: 22 },
  file_not_found: { status: 404, row: 30 },
  method_not_allowed: { status: 405, row: 10 },
  conflict: { status: 409, row: 20 },
  payload_too_large: { status: 413, row: 27 },
  unsupported_media_type: { status: 415, row: 43 },
  rate_limited: { status: 429, row: 28 },
} as const satisfies Record<string, { status: number; row: number }>
export type ErrorCode = keyof typeof ERRORS

export const ErrorBody = z
  .object({ error: z.object({ code: z.string(), message: z.string(), field: z.nullable(z.string()) }) })
  .check(z.meta({ id: 'ErrorBody', description: 'What was refused, why, and which field (assumption 10)' }))
export type ErrorBody = z.infer<typeof ErrorBody>

/** Names the assumption rows an answer leans on, so nobody mistakes our default for the platform's word. */
export const MARKER_HEADER = 'x-handover-sim-unspecified'

/** Marks a fault of the simulator itself; its body never has the platform's shape. */
export const INTERNAL_HEADER = 'x-handover-sim-internal-error'

/** Names the faults that struck a call, on every answer that still goes out: none of it is the platform's doing. */
export const FAULT_HEADER = 'x-handover-sim-fault'

/** A request the platform turns down. Not an Error: it is an ordinary outcome and carries no stack. */
import { ERRORS, type ErrorCode } from '../contract/errors.ts'
import type { Knobs } from '../contract/knobs.ts'

export class Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly field: string | null
  readonly status: number
  readonly rows: readonly number[]

  constructor(code: ErrorCode, message: string, options: { field?: string; status?: number; row?: number } = {}) {
    this.code = code
    this.message = message
    this.field = options.field ?? null
    this.status = options.status ?? ERRORS[code].status
    this.rows = [...new Set([10, ERRORS[code].row, ...(options.row ? [options.row] : [])])]
  }
}

/** A field that cannot be accepted; its status is the knob `errors.validation` (assumption 10). */
export function invalidParameter(knobs: Knobs, message: string, about: { field?: string; row?: number }): Refusal {
  return new Refusal('invalid_parameter', message, { ...about, status: Number(knobs['errors.validation']) })
}

/** Defines the refusal of a request. It is not an Error, because it is an ordinary outcome and needs no stack. */

import type { AssumptionName } from '../contract/assumptions.ts'
import { ERRORS, type ErrorCode } from '../contract/errors.ts'
import type { Knobs } from '../contract/knobs.ts'

interface RefusalOptions {
  field?: string
  assumed?: readonly AssumptionName[]
}

export class Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly field: string | null
  readonly status: number
  readonly assumed: readonly AssumptionName[]

  constructor(code: ErrorCode, message: string, options: RefusalOptions & { status?: number } = {}) {
    this.code = code
    this.message = message
    this.field = options.field ?? null
    this.status = options.status ?? ERRORS[code].status
    this.assumed = ['errors.body', ERRORS[code].assumed, ...(options.assumed ?? [])]
  }
}

/** Refuses a field; the status is the knob `errors.validation`. */
export function invalidParameter(knobs: Knobs, message: string, options: RefusalOptions): Refusal {
  const assumed = ['errors.validation', ...(options.assumed ?? [])] as const
  return new Refusal('invalid_parameter', message, { ...options, assumed, status: Number(knobs['errors.validation']) })
}

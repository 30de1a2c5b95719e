/** Checks faults of users by their schema. */

import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { describeIssues } from '../api/body.ts'
import { Fault, type FaultFields } from '../faults/schema.ts'
import { InvalidOptionError } from './options.ts'

/** Throws `InvalidOptionError` with all problems of the fault. */
export function parseFault(fault: unknown): FaultFields {
  const parsed = Fault.safeParse(fault, ZOD_MESSAGES)
  if (parsed.success) return parsed.data
  const problems = describeIssues(parsed.error.issues, fault, Fault, 'The fault')
  throw new InvalidOptionError(problems.map(({ field, message }) => ({ name: field || 'fault', message })))
}

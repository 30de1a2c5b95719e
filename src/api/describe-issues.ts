/** Describes the issues of a request in sentences that begin with the field, and finds fields that the schema dropped. */
import type * as z from 'zod/mini'
import { explainIssues, joinPath } from '../contract/explain-issues.ts'
import { sentence } from '../text/near-names.ts'

export interface FieldProblem {
  readonly field: string
  readonly message: string
  /** The keys that are known instead of an unknown one. */
  readonly allowed?: readonly string[]
}

/** `whole` names the value itself: `The body`. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  schema: z.ZodMiniType,
  whole: string,
): FieldProblem[] {
  return explainIssues(issues, value, schema).map(({ field, message, allowed }) => ({
    field,
    message: sentence(`${field || whole} ${message}`),
    ...(allowed === undefined ? {} : { allowed }),
  }))
}

type Fields = Readonly<Record<string, unknown>>

/** Whether a value has fields; an array counts. */
export const hasFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Fields of `raw` that a parse dropped, with their full names. */
export function droppedFields(raw: Fields, parsed: Fields): string[] {
  const dropped: string[] = []
  collectDropped(raw, parsed, '', dropped)
  return dropped
}

/** Allocates nothing unless a field was dropped, because it runs for every request. */
function collectDropped(raw: Fields, parsed: Fields, at: string, dropped: string[]): void {
  for (const key in raw) {
    if (!Object.hasOwn(parsed, key)) dropped.push(nameAt(raw, at, key))
    else descend(raw, parsed, at, key, dropped)
  }
}

const nameAt = (parent: object, at: string, key: string) =>
  Array.isArray(parent) ? `${at}[${key}]` : joinPath(at, key)

function descend(raw: Fields, parsed: Fields, at: string, key: string, dropped: string[]): void {
  const [child, other] = [raw[key], parsed[key]]
  if (hasFields(child) && hasFields(other)) collectDropped(child, other, nameAt(raw, at, key), dropped)
}

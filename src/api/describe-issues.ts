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

/** Fields of `raw` that a parse dropped, with their full names. */
export function droppedFields(raw: object, parsed: object): string[] {
  const dropped: string[] = []
  collectDropped(raw, parsed, '', dropped)
  return dropped
}

/** Allocates nothing unless a field was dropped, because it runs for every request. */
function collectDropped(raw: object, parsed: object, at: string, dropped: string[]): void {
  for (const key in raw) {
    if (!Object.hasOwn(parsed, key)) dropped.push(nameAt(raw, at, key))
    else descend(raw, parsed, at, key, dropped)
  }
}

const nameAt = (parent: object, at: string, key: string) =>
  Array.isArray(parent) ? `${at}[${key}]` : joinPath(at, key)

function descend(raw: object, parsed: object, at: string, key: string, dropped: string[]): void {
  const [child, other] = [(raw as Record<string, unknown>)[key], (parsed as Record<string, unknown>)[key]]
  if (typeof child !== 'object' || child === null || typeof other !== 'object' || other === null) return
  collectDropped(child, other, nameAt(raw, at, key), dropped)
}

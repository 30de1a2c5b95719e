/** Everything the control API turns down, as `{ error: { code, message, issues? } }`. */
import type * as z from 'zod/mini'
import { explain, fieldName } from '../api/explain.ts'
import { allowedFor, isKnob } from '../contract/knobs.ts'
import { Refusal } from '../platform/refusal.ts'
import { InvalidSetting } from '../simulator/options.ts'
import { SETTING_NAMES } from '../simulator/settings.ts'
import { InvalidSnapshot } from '../simulator/snapshot/check.ts'
import { nearest } from '../text/nearest.ts'
import { UserProblem } from '../user/actions.ts'
import { WorkspaceTaken } from '../workspaces/registry.ts'

export interface Issue {
  readonly field: string
  readonly message: string
  /** What would be accepted instead, where that can be listed. */
  readonly allowed?: string | readonly string[]
}

export class ControlProblem extends Error {
  override readonly name = 'ControlProblem'
  readonly status: number
  readonly code: string
  readonly issues: readonly Issue[]
  readonly headers: Readonly<Record<string, string>>
  constructor(
    status: number,
    code: string,
    message: string,
    more: { issues?: readonly Issue[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.issues = more.issues ?? []
    this.headers = more.headers ?? {}
  }
}

export const problemBody = ({ code, message, issues }: ControlProblem) => ({
  error: { code, message, ...(issues.length === 0 ? {} : { issues }) },
})

/** What the rest of the house throws, in the words of the control API; null for faults of our own. */
export function asProblem(thrown: unknown): ControlProblem | null {
  if (thrown instanceof ControlProblem) return thrown
  if (thrown instanceof InvalidSetting) return fromSetting(thrown)
  if (thrown instanceof InvalidSnapshot) return fromSnapshot(thrown)
  if (thrown instanceof WorkspaceTaken) return new ControlProblem(409, 'workspace_taken', thrown.message)
  if (thrown instanceof UserProblem) {
    return new ControlProblem(thrown.code === 'chat_not_found' ? 404 : 422, thrown.code, thrown.message)
  }
  if (!(thrown instanceof Refusal)) return null
  const issues = thrown.field === null ? [] : [{ field: thrown.field, message: thrown.message }]
  return new ControlProblem(422, thrown.code, thrown.message, { issues })
}

function fromSnapshot({ message, problems }: InvalidSnapshot): ControlProblem {
  const issues = problems.map(one => ({ field: one.name, message: one.message }))
  return new ControlProblem(422, 'invalid_snapshot', message, { issues })
}

function fromSetting({ message, problems }: InvalidSetting): ControlProblem {
  const issues = problems.map(({ name, message }) => ({ field: name, message, ...allowedInstead(name, message) }))
  return new ControlProblem(422, 'invalid_setting', message, { issues })
}

function allowedInstead(name: string, message: string): Pick<Issue, 'allowed'> {
  if (isKnob(name)) return { allowed: allowedFor(name) }
  return message.includes('is not a setting') ? { allowed: SETTING_NAMES } : {}
}

/** A body or query that breaks its schema; every problem is named, unknown keys with the near name. */
export function invalidRequest(
  what: 'body' | 'query',
  schema: z.ZodMiniType,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
): ControlProblem {
  const found = issues.flatMap(issue => issuesOf(what, schema, issue, value))
  const message = found.map(issue => issue.message).join(' ')
  return new ControlProblem(422, `invalid_${what}`, message, { issues: found })
}

function issuesOf(what: string, schema: z.ZodMiniType, issue: z.core.$ZodIssue, value: unknown): Issue[] {
  if (issue.code !== 'unrecognized_keys') {
    return explain([issue], value).map(({ field, message }) => ({
      field: field === '' ? what : field,
      message: field === '' ? message.replace(/^body/, `The ${what}`) : message,
    }))
  }
  const known = keysAt(schema, issue.path)
  return issue.keys.map(key => {
    const field = fieldName([...issue.path, key])
    return { field, message: `${field} is not known here${nearest(key, known) || '.'}`, allowed: known }
  })
}

interface Def {
  readonly type: string
  readonly innerType?: z.ZodMiniType
  readonly element?: z.ZodMiniType
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>
}

const defOf = (schema: z.ZodMiniType) => schema._zod.def as unknown as Def

/** The schema under what only says "may be missing" or "may be null". */
function unwrapped(schema: z.ZodMiniType): z.ZodMiniType {
  const { innerType } = defOf(schema)
  return innerType === undefined ? schema : unwrapped(innerType)
}

/** The fields known at a path of a schema. */
function keysAt(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  const { element, shape } = defOf(unwrapped(schema))
  const [part, ...rest] = path
  if (part === undefined) return Object.keys(shape ?? {})
  const inner = element ?? shape?.[String(part)]
  return inner === undefined ? [] : keysAt(inner, rest)
}

export const typeOf = (schema: z.ZodMiniType): string => defOf(unwrapped(schema)).type
export const shapeOf = (schema: z.ZodMiniType) => defOf(unwrapped(schema)).shape ?? {}

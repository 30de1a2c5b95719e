/** Turns errors into responses of the control API: `{ error: { code, message, issues? } }`. */
import type * as z from 'zod/mini'
import { nearest } from '../../base/text/error-text.ts'
import { describeIssues } from '../../platform/api/body.ts'
import { Refusal } from '../../platform/rules/refusal.ts'
import type { Chat } from '../../platform/rules/state.ts'
import { UserProblem } from '../../platform/rules/user-actions.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { InvalidOptionError } from '../../platform/simulator/options.ts'
import { InvalidSnapshotError } from '../../platform/simulator/snapshot/invalid-snapshot.ts'
import { WorkspaceConflictError } from '../../platform/simulator/workspaces.ts'

export interface Issue {
  readonly field: string
  readonly message: string
  /** The accepted values, where they can be listed. */
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

export const resetProblem = () => new ControlProblem(409, 'reset', 'The simulator was reset before this was done.')

export const problemBody = ({ code, message, issues }: ControlProblem) => ({
  error: { code, message, ...(issues.length === 0 ? {} : { issues }) },
})

/** Converts an error of a lower layer; null for an internal error. */
export function asProblem(thrown: unknown): ControlProblem | null {
  if (thrown instanceof ControlProblem) return thrown
  if (thrown instanceof InvalidOptionError) return fromSetting(thrown)
  if (thrown instanceof InvalidSnapshotError) return fromSnapshot(thrown)
  if (thrown instanceof WorkspaceConflictError) return new ControlProblem(409, 'workspace_taken', thrown.message)
  if (thrown instanceof UserProblem) {
    return new ControlProblem(thrown.code === 'chat_not_found' ? 404 : 422, thrown.code, thrown.message)
  }
  if (!(thrown instanceof Refusal)) return null
  const issues = thrown.field === null ? [] : [{ field: thrown.field, message: thrown.message }]
  return new ControlProblem(422, thrown.code, thrown.message, { issues })
}

function fromSnapshot({ message, problems }: InvalidSnapshotError): ControlProblem {
  const issues = problems.map(problem => ({ field: problem.name, message: problem.message }))
  return new ControlProblem(422, 'invalid_snapshot', message, { issues })
}

function fromSetting({ message, problems }: InvalidOptionError): ControlProblem {
  const issues = problems.map(({ name, ...problem }) => ({ field: name, ...problem }))
  return new ControlProblem(422, 'invalid_setting', message, { issues })
}

/** Describes every issue of a body or query that does not match its schema, with the known keys for an unknown key. */
export function invalidRequest(
  what: 'body' | 'query',
  schema: z.ZodMiniType,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
): ControlProblem {
  const fieldProblems = describeIssues(issues, value, schema, `The ${what}`).map(problem => ({
    ...problem,
    field: problem.field || what,
  }))
  const message = fieldProblems.map(issue => issue.message).join(' ')
  return new ControlProblem(422, `invalid_${what}`, message, { issues: fieldProblems })
}

/** How many ids a problem lists. */
const LISTED = 5

/** The latest ids, newest first. */
const newest = (ids: readonly string[]): string[] => ids.slice(-LISTED).reverse()

export const latest = (what: string, ids: readonly string[]): string =>
  ids.length === 0 ? ` There are no ${what} yet.` : ` The latest ${what}: ${newest(ids).join(', ')}.`

export function unknownId(code: string, field: string, message: string, ids: readonly string[]): ControlProblem {
  return new ControlProblem(404, code, message, { issues: [{ field, message, allowed: newest(ids) }] })
}

/** Says which moment a request asks for: the seq of an entry, or null for the present. */
export function readMoment({ journal, moments }: Core, { at }: { readonly at?: number | undefined }): number | null {
  if (at === undefined || at >= journal.nextSeq - 1) return null
  const first = moments.firstSeq()
  if (at >= first) return at
  const message = `The moment after entry ${at} is no longer known: the first that is known is at=${first}.`
  throw new ControlProblem(410, 'moment_dropped', message, {
    issues: [{ field: 'at', message, allowed: `${first} or later` }],
  })
}

/** The chat with this id, or the problem that lists the latest chats. */
export function getChat({ platform }: Core, id: string): Chat {
  const chat = platform.state.chats.get(id)
  if (chat !== undefined) return chat
  const known = [...platform.state.chats.keys()]
  const message = `There is no chat ${JSON.stringify(id)}${nearest(id, known) || '.'}${latest('chats', known)}`
  throw unknownId('chat_not_found', 'chat_id', message, known)
}

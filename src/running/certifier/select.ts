/** Selects checks by id and by profile. */
import { nearest } from '../../base/text/error-text.ts'
import type { CheckDefinition, Profile } from './check.ts'
import { CHECKS } from './checks/index.ts'

export interface CheckSelection {
  /** Ids or beginnings of ids, such as `SIG-07` or `SIG`; empty: all. */
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** An id of the selection is the beginning of none. The message names the nearest. */
export class UnknownCheckError extends Error {
  override readonly name = 'UnknownCheckError'
}

/** In the order of reports. Throws `UnknownCheckError`. */
export function selectChecks({ only, skip }: CheckSelection, profiles: readonly Profile[]): CheckDefinition[] {
  const unknown = [...only, ...skip].find(part => !CHECKS.some(({ id }) => id.startsWith(part.toUpperCase())))
  if (unknown !== undefined) throw new UnknownCheckError(unknownText(unknown))
  const isNamed = (parts: readonly string[], id: string) => parts.some(part => id.startsWith(part.toUpperCase()))
  return CHECKS.filter(
    ({ id, profile }) => profiles.includes(profile) && (only.length === 0 || isNamed(only, id)) && !isNamed(skip, id),
  )
}

function unknownText(part: string): string {
  const ids = CHECKS.map(({ id }) => id)
  const end = nearest(part.toUpperCase(), ids) || '; `handover-sim certify --list` prints all.'
  return `There is no check ${JSON.stringify(part)}${end}`
}

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
  const isNamed = (id: string, parts: readonly string[]) => parts.some(part => id.startsWith(part.toUpperCase()))
  const ids = CHECKS.map(({ id }) => id)
  for (const part of [...only, ...skip]) {
    if (ids.some(id => isNamed(id, [part]))) continue
    const hint = nearest(part.toUpperCase(), ids) || '; `npx handover-sim certify --list` prints all.'
    throw new UnknownCheckError(`There is no check ${JSON.stringify(part)}${hint}`)
  }
  const selected: CheckDefinition[] = []
  for (const check of CHECKS) {
    const isIncluded = only.length === 0 || isNamed(check.id, only)
    if (profiles.includes(check.profile) && isIncluded && !isNamed(check.id, skip)) selected.push(check)
  }
  return selected
}

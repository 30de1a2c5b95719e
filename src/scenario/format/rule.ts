/** Rules over a whole map, which no schema of its keys can say. */
import * as z from 'zod/mini'

/** A rule over a whole map, judged even when something in it is wrong. Its words are complete. */
export const ruled = <Value>(rule: (value: unknown) => string | undefined): z.core.$ZodCheck<Value> =>
  z.refine<Value>(value => rule(value) === undefined, {
    when: () => true,
    error: issue => rule(issue.input) ?? '',
    params: { complete: true },
  })

/** None of what makes sense of the map is there. */
export const lacking = (value: unknown, names: readonly string[]) =>
  typeof value === 'object' && value !== null && names.every(name => !(name in value))
    ? `must have ${names.join(' or ')}`
    : undefined

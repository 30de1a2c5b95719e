import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod/mini'
import { isMap, keysOf } from '../../src/base/objects.ts'
import { ENDPOINTS } from '../../src/platform/contract/endpoints.ts'
import { ENDPOINT_EXAMPLES } from '../../src/platform/contract/examples.ts'
import { QUICK_CHECKS } from '../../src/platform/contract/quick-check.ts'

interface Checked {
  readonly name: string
  readonly schema: z.ZodMiniType
  readonly check: (value: unknown) => boolean
  readonly example: unknown
}

const checked: readonly Checked[] = keysOf(ENDPOINTS).flatMap(id => {
  const { body, response } = ENDPOINTS[id]
  const { request, response: answer } = ENDPOINT_EXAMPLES[id]
  const checks = QUICK_CHECKS[id]
  return [
    ...(body === null ? [] : [{ name: `the body of ${id}`, schema: body, check: checks.body, example: request }]),
    { name: `the response of ${id}`, schema: response, check: checks.response, example: answer },
  ]
})

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Every object in a value, the value included. */
const objectsIn = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  return isMap(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : []
}

const NAMES = [...new Set(checked.flatMap(({ example }) => objectsIn(example).flatMap(Object.keys))), 'extra']

/** JSON whose fields are mostly those of the contract. */
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -1, 1042, 1.5, 2 ** 60, '', 'c1', 'OPEN', 'TAKEOVER STARTED'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, '__proto__'), tie('value'), { maxKeys: 5 }),
  ),
})).value

/** The example with a field of one of its objects replaced, added or removed. */
const altered = (example: unknown) =>
  fc
    .tuple(fc.nat(), fc.nat(), fc.boolean(), fc.constantFrom(...NAMES), fc.option(json, { nil: undefined }))
    .map(([which, field, isKnown, other, value]) => {
      const copy = copyOf(example)
      const objects = objectsIn(copy)
      const chosen = objects[which % objects.length] ?? {}
      const known = Object.keys(chosen)
      const name = isKnown ? (known[field % known.length] ?? other) : other
      Object.defineProperty(chosen, name, { value, enumerable: true, configurable: true, writable: true })
      return copy
    })

describe('the quick check', () => {
  it.each(checked)('accepts only what a parse returns unchanged: $name', ({ schema, check, example }) => {
    fc.assert(
      fc.property(fc.oneof({ arbitrary: json, weight: 1 }, { arbitrary: altered(example), weight: 3 }), value => {
        const received = copyOf(value)
        if (check(received)) expect(schema.parse(received)).toStrictEqual(received)
      }),
      { numRuns: 300 },
    )
  })

  it.each(checked)('accepts the usual values, so that they need no parse: $name', ({ check, example }) => {
    expect(check(example)).toBe(true)
  })

  it('leaves the values of other calls to the parse', () => {
    const { message, start, typing_start: typing } = ENDPOINT_EXAMPLES
    expect(QUICK_CHECKS.start.body(message.request)).toBe(false)
    expect(QUICK_CHECKS.message.body(start.request)).toBe(false)
    expect(QUICK_CHECKS.typing_stop.body(typing.request)).toBe(false)
    expect(QUICK_CHECKS.message.response(start.response)).toBe(false)
  })
})

/** Draws hostile values and mutates JSON, from a seed. */
import { createRandom } from '../../src/base/runtime/random.ts'

export type Draw = ReturnType<typeof createDraw>

/** Deeper values would make `structuredClone` and `JSON.stringify` of the attacker fail. Deeper texts are in the attacks. */
const DEEPEST = 2000

/** Values that break naive code: wrong types, borders of numbers and dates, names of prototypes, broken text, depth. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 0.5, -0.5, 1e308, -1e308, 9e21, 8.64e15, 8.64e15 + 2, -8.64e15],
  ...[2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 9_007_199_254_740, 9_007_199_254_741],
  ...['', ' ', '\0', '\ud800', 'a\udc00b', '\ufeff', '\u202e', '\r\n', '"', '\\', '%00', '../../x', '😀'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'length'],
  ...['NaN', 'Infinity', '-1', '1e999', 'off', 'on', 'null', '***', 'any', 'handover', 'virtual', 'DEFAULT'],
  ...['0s', '1ms', '-5s', '2400000000h', '99999999999999999999h', '0.0001ms', '1d', '5s,', '1s,2s'],
  ...['http://[::1', 'http://127.0.0.1:1/x', 'file:///etc/passwd', 'javascript:1', 'http://a@b:99999'],
  ...['1970-01-01T00:00:00Z', '2024-02-30', '+275760-09-13T00:00:00.000Z', '-000001-01-01T00:00:00Z', '25:00'],
  ...[[], {}, [null], { constructor: { prototype: 1 } }, 'x'.repeat(5000), Array.from({ length: 300 }, () => 1)],
  ...['{"__proto__":{"polluted":true}}', '{"toString":1,"valueOf":2,"toJSON":3,"then":4}'].map(text =>
    JSON.parse(text),
  ),
  ...[nested(20), nested(63), nested(DEEPEST / 2)],
]

/** Arrays in arrays. */
export function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

export function createDraw(seed: number, label: string) {
  const random = createRandom(seed, label)
  const below = (count: number) => random.below(count)
  const chance = (outOf: number) => below(outOf) === 0
  const one = <T>(items: readonly T[]): T => items[below(items.length)]!
  const hostile = () => structuredClone(one(HOSTILE))
  const hostileText = (): string => {
    const value = hostile()
    return typeof value === 'string' ? value : String(JSON.stringify(value)).slice(0, 6000)
  }
  /** Returns a copy with one change at a random place; an equal copy when the change makes it too deep. */
  const mutated = (value: unknown) => {
    const copy = structuredClone(value)
    const places = placesIn(copy)
    if (places.length === 0) return hostile()
    change({ one, hostile }, places)
    return placesIn(copy).some(({ depth }) => depth > DEEPEST) ? structuredClone(value) : copy
  }
  return { below, chance, one, hostile, hostileText, mutated }
}

type Parent = Record<string, unknown> | unknown[]
type Place = { readonly parent: Parent; readonly key: string; readonly depth: number }

/** All places in a value, found without recursion, because values may be deep. */
function placesIn(value: unknown): Place[] {
  const places: Place[] = []
  const open = [{ node: value, depth: 1 }]
  for (let next = open.pop(); next !== undefined && places.length < 20_000; next = open.pop()) {
    const { node, depth } = next
    if (typeof node !== 'object' || node === null) continue
    for (const [key, child] of Object.entries(node)) {
      places.push({ parent: node as Parent, key, depth })
      open.push({ node: child, depth: depth + 1 })
    }
  }
  return places
}

function change({ one, hostile }: Pick<Draw, 'one' | 'hostile'>, places: readonly Place[]): void {
  const [{ parent, key }, other] = [one(places), one(places)]
  const before: unknown = Reflect.get(parent, key)
  const put = (value: unknown) => set(parent, key, value)
  const numbers = typeof before === 'number' ? [-before, before + 0.5, before * 1000, `${before}`] : [0, -1, 1.5, 1e21]
  one<() => unknown>([
    () => put(hostile()),
    () => put(hostile()),
    () => put(one(numbers)),
    () => put([before]),
    () => put(structuredClone(Reflect.get(other.parent, other.key))),
    () => put(typeof before === 'string' ? before + one(['\ud800', '\n', 'é', '\0', ' ']) : null),
    () => !Array.isArray(parent) && set(parent, one(['__proto__', 'constructor', 'x', `${key} `]), before),
    () => (Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]),
    () => Array.isArray(parent) && parent.push(structuredClone(before)),
  ])()
}

/** `__proto__` becomes a key of its own, as in parsed JSON. */
const set = (parent: Parent, key: string, value: unknown) =>
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })

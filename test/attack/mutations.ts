/** Draws hostile values and mutates JSON, from a seed. */
import { createRandom, type Random } from '../../src/base/runtime/random.ts'

export type Draw = ReturnType<typeof createDraw>

type Json = unknown

/** Deeper values would make `structuredClone` and `JSON.stringify` of the attacker fail. Deeper texts are in the attacks. */
const DEEPEST = 2000

/** Values that break naive code: wrong types, borders of numbers and dates, names of prototypes, broken text, depth. */
const HOSTILE: readonly (() => Json)[] = [
  ...[
    ...[null, true, false, 0, -1, 1, 0.5, -0.5, 1e308, -1e308, 9e21, 8.64e15, 8.64e15 + 2, -8.64e15],
    ...[2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 9_007_199_254_740, 9_007_199_254_741],
    ...['', ' ', '\0', '\ud800', 'a\udc00b', '\ufeff', '\u202e', '\r\n', '"', '\\', '%00', '../../x', '😀'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'length'],
    ...['NaN', 'Infinity', '-1', '1e999', 'off', 'on', 'null', '***', 'any', 'handover', 'virtual', 'DEFAULT'],
    ...['0s', '1ms', '-5s', '2400000000h', '99999999999999999999h', '0.0001ms', '1d', '5s,', '1s,2s'],
    ...['http://[::1', 'http://127.0.0.1:1/x', 'file:///etc/passwd', 'javascript:1', 'http://a@b:99999'],
    ...['1970-01-01T00:00:00Z', '2024-02-30', '+275760-09-13T00:00:00.000Z', '-000001-01-01T00:00:00Z', '25:00'],
  ].map(value => () => value),
  () => [],
  () => ({}),
  () => [null],
  () => JSON.parse('{"__proto__":{"polluted":true}}'),
  () => ({ constructor: { prototype: 1 } }),
  () => JSON.parse('{"toString":1,"valueOf":2,"toJSON":3,"then":4}'),
  () => 'x'.repeat(5000),
  () => Array.from({ length: 300 }, (_, index) => index),
  () => nested(20),
  () => nested(63),
  () => nested(DEEPEST / 2),
]

/** Arrays in arrays. */
export function nested(depth: number): Json {
  let value: Json = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

export function createDraw(seed: number, label: string) {
  const random: Random = createRandom(seed, label)
  const below = (count: number) => random.below(count)
  const chance = (outOf: number) => below(outOf) === 0
  const one = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)]
    if (item === undefined && items.length === 0) throw new Error('Failed to draw: the list is empty.')
    return item as T
  }
  const hostile = (): Json => one(HOSTILE)()
  const hostileText = (): string => {
    const value = hostile()
    return typeof value === 'string' ? value : String(JSON.stringify(value)).slice(0, 6000)
  }
  return { below, chance, one, hostile, hostileText, mutated: (value: Json) => mutated({ below, one, hostile }, value) }
}

type Choice = { below(count: number): number; one<T>(items: readonly T[]): T; hostile(): Json }

/** Returns a copy with one change at a random place; an equal copy when the change makes it too deep. */
function mutated(choice: Choice, value: Json): Json {
  const copy = structuredClone(value)
  const places = placesIn(copy)
  if (places.length === 0) return choice.hostile()
  const { parent, key } = choice.one(places)
  change(choice, parent, key, places)
  return placesIn(copy).some(({ depth }) => depth > DEEPEST) ? structuredClone(value) : copy
}

type Parent = Record<string, Json> | Json[]

interface Place {
  readonly parent: Parent
  readonly key: string
  readonly depth: number
}

/** All places in a value, found without recursion, because values may be deep. */
function placesIn(value: Json): Place[] {
  const places: Place[] = []
  const open: { node: Json; depth: number }[] = [{ node: value, depth: 1 }]
  for (let next = open.pop(); next !== undefined && places.length < 20_000; next = open.pop()) {
    const { node, depth } = next
    if (typeof node !== 'object' || node === null) continue
    const parent = node as Parent
    for (const key of Object.keys(parent)) {
      places.push({ parent, key, depth })
      open.push({ node: Reflect.get(parent, key), depth: depth + 1 })
    }
  }
  return places
}

function change(choice: Choice, parent: Parent, key: string, places: readonly Place[]): void {
  const before: Json = Reflect.get(parent, key)
  const other = choice.one(places)
  const changes: (() => void)[] = [
    () => set(parent, key, choice.hostile()),
    () => set(parent, key, choice.hostile()),
    () => set(parent, key, numberLike(choice, before)),
    () => set(parent, key, [before]),
    () => set(parent, key, structuredClone(Reflect.get(other.parent, other.key))),
    () => set(parent, key, typeof before === 'string' ? before + choice.one(['\ud800', '\n', 'é', '\0', ' ']) : null),
    () => {
      if (!Array.isArray(parent)) set(parent, choice.one(['__proto__', 'constructor', 'x', `${key} `]), before)
    },
    () => remove(parent, key),
    () => void (Array.isArray(parent) && parent.push(structuredClone(before))),
  ]
  choice.one(changes)()
}

function numberLike({ one }: Choice, before: Json): Json {
  if (typeof before !== 'number') return one([0, -1, 1.5, 1e21])
  return one([-before, before + 0.5, before * 1e6, before * 1000, String(before), before + 1])
}

/** `__proto__` becomes a key of its own, as in parsed JSON. */
const set = (parent: Parent, key: string, value: Json) =>
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })

function remove(parent: Parent, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}

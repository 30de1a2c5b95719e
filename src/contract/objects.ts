/** Builds objects, lists their keys and recognizes them, with types. */

/** The keys of an object literal, typed. */
export const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(record) as Key[]

/** An object with a value for each key. */
export const recordOf = <Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> => Object.fromEntries(keys.map(key => [key, value(key)])) as Record<Key, Value>

/** A copy without the keys whose value is undefined. */
export const withoutUndefined = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Value

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

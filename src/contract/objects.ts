/** Lists the keys of objects with their types, and removes undefined values. */

/** The keys of an object literal, typed. */
export const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(record) as Key[]

/** A copy without the keys whose value is undefined. */
export const withoutUndefined = <Value extends object>(
  value: Value,
): { [Key in keyof Value]: NonUndefined<Value[Key]> } =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as never

type NonUndefined<Value> = Exclude<Value, undefined>

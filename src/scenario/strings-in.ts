/** Every text inside a value, keys left out. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return []
  return Object.values(value).flatMap(textsIn)
}

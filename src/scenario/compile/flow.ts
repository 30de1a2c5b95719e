/** Values on one line as they would be written in a scenario, shortened for people. */

const PLAIN = /^[A-Za-z_$][\w.$-]*$/

export function flow(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(
    ([key, inner]) => `${PLAIN.test(key) ? key : JSON.stringify(key)}: ${flow(inner)}`,
  )
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** In whole characters, never half of a pair. */
export function shorten(text: string, max: number): string {
  const points = [...text.slice(0, max * 2)]
  return points.length <= max && text.length <= max * 2 ? text : `${points.slice(0, max - 1).join('')}…`
}

/** Measures how deep a value nests arrays and objects. */

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const child of Object.values(value)) if (isDeeperThan(child, levels - 1)) return true
  return false
}

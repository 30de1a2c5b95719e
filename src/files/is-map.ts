/** Whether a value is an object (a map in YAML), neither an array nor null. */
export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

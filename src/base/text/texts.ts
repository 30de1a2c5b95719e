/** Reads texts from tables by code. */

/** One text: fixed, or made from values. */
export type Text = string | ((...values: never[]) => string)

/** The text of `code` with its parameters; undefined when the table has none. */
export function textFor(table: Readonly<Record<string, Text>>, code: string, parameters: unknown): string | undefined {
  const text = Object.hasOwn(table, code) ? table[code] : undefined
  return typeof text === 'function' ? text(parameters as never) : text
}

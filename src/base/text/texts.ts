/** Collects user-visible texts in tables, so that they are rendered in one place and no code depends on their words. */

/** One text: fixed, or made from values. */
export type Text = string | ((...values: never[]) => string)

/** Changes every text of every table; the identity outside of tests. */
let transform: ((text: string) => string) | null = null

/**
 * Replaces the words of all texts, to show that no code reads them. For tests.
 *
 * @param change receives each rendered text; `null` restores the original texts.
 */
export function transformTexts(change: ((text: string) => string) | null): void {
  transform = change
}

/**
 * A table of texts by code.
 *
 * @example
 * const TEXTS = defineTexts({ refused: (port: number) => `connection refused: port ${port} does not listen` })
 * TEXTS.refused(3000)
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineTexts<const Table extends Readonly<Record<string, Text>>>(table: Table): Table {
  return new Proxy(table, {
    get(texts, name, receiver) {
      const text: unknown = Reflect.get(texts, name, receiver)
      return transform === null ? text : transformed(text, transform)
    },
  })
}

/** The text of `code` with its parameters; undefined when the table has none. */
export function textFor(table: Readonly<Record<string, Text>>, code: string, parameters: unknown): string | undefined {
  const text = Object.hasOwn(table, code) ? table[code] : undefined
  return typeof text === 'function' ? text(parameters as never) : text
}

function transformed(text: unknown, change: (text: string) => string): unknown {
  if (typeof text === 'string') return change(text)
  if (typeof text !== 'function') return text
  return (...values: unknown[]) => change(String(text(...values)))
}

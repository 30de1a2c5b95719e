/** Types unions of records by their codes. */

/** The records of a table, each with its code: `{ code: 'late', byMs: number }`. */
export type Coded<Table> = {
  readonly [Code in keyof Table]: { readonly code: Code } & Readonly<Table[Code]>
}[keyof Table]

/** The record of a code without data. */
export type Bare = object

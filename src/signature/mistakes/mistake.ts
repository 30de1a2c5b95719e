/** The shape of a mistake: how it is made again, and what is said about it. */

/** One way to make a mistake. The detail ends the sentence of its mistake; it never holds a key. */
export interface Variant<Value> {
  readonly value: Value
  readonly detail: string
}

export interface MistakeText {
  /** Without its full stop: a detail may follow. */
  readonly says: string
  readonly fix: string
}

/** What comes out when something was done to the right input; a variant that changes nothing does no harm. */
export interface SignatureMistake<Input, Output> extends MistakeText {
  readonly id: string
  variants(input: Input): Iterable<Variant<Output>>
}

export const variant = <Value>(value: Value, detail = ''): Variant<Value> => ({ value, detail })

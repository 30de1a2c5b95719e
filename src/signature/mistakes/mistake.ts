/** Defines the form of a mistake: how to reproduce it, and its texts. */

/** One way to make a mistake. The detail follows the sentence of the mistake and never contains a key. */
export interface Variant<Value> {
  readonly value: Value
  readonly detail: string
}

export interface MistakeText {
  /** A sentence without its full stop, because a detail may follow. */
  readonly says: string
  readonly fix: string
}

/** A mistake and the outputs it produces from the right input. A variant may equal the input. */
export interface SignatureMistake<Input, Output> extends MistakeText {
  readonly id: string
  variants(input: Input): Iterable<Variant<Output>>
}

export const variant = <Value>(value: Value, detail = ''): Variant<Value> => ({ value, detail })

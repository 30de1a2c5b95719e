/** Builds matchers as the data that a YAML file holds. */
import type { Matcher, OperatorArguments } from '../format/matchers.ts'

export type { Matcher }

/** A pattern for a value of type `T`: any part can be left out, be a matcher, or be a text with `$(...)`. */
export type Matching<T> =
  | Matcher
  | `${string}$(${string})${string}`
  | (T extends readonly (infer Item)[]
      ? readonly Matching<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]?: Matching<NonNullable<T[Key]>> }
        : T)

const make = <Name extends keyof OperatorArguments>(name: Name, argument: OperatorArguments[Name]): Matcher =>
  ({ [name]: argument }) as Record<string, unknown> as Matcher

/**
 * Builders of matchers.
 *
 * @example
 * import { $, expectCall } from 'handover-sim/scenario'
 *
 * expectCall('message', { message: $.re(/parcel/i), sender: { name: $.type('string') } })
 */
export const $ = {
  /** Any value that is present. */
  any: make('$any', true),
  absent: make('$absent', true),
  uuid: make('$uuid', true),
  /** A time such as 2024-01-01T09:00:00Z. */
  iso: make('$iso', true),
  type: (name: OperatorArguments['$type']): Matcher => make('$type', name),
  re: (written: string | RegExp): Matcher => {
    // A regular expression as text, with its flags.
    return make('$re', typeof written === 'string' ? written : `/${written.source}/${written.flags}`)
  },
  /** A list that has the item, or a text that has the part. */
  has: (part: unknown): Matcher => make('$has', part),
  oneOf: (...choices: readonly [unknown, ...unknown[]]): Matcher => make('$oneOf', choices),
  not: (unwanted: unknown): Matcher => make('$not', unwanted),
  /** Every item of a list. */
  each: (item: unknown): Matcher => make('$each', item),
  len: (length: number | Matcher): Matcher => make('$len', length),
  gt: (bound: number | string): Matcher => make('$gt', bound),
  gte: (bound: number | string): Matcher => make('$gte', bound),
  lt: (bound: number | string): Matcher => make('$lt', bound),
  lte: (bound: number | string): Matcher => make('$lte', bound),
  /** This value and no further fields. */
  exact: (value: unknown): Matcher => make('$exact', value),
} as const

/** Defines the rows of the result: medians with their spread, ratios, goals; and prints them as a table. */

/** What was measured in several rounds. */
export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export interface Goal {
  readonly of: 'ratio' | 'value'
  readonly is: 'at least' | 'at most' | 'below'
  readonly limit: number
}

/** One row of the result. The ratio is the median over the rounds, each with its own yardstick. */
export interface Row {
  readonly figure: string
  readonly name: string
  readonly unit: string
  readonly value: Spread
  readonly yardstick?: Spread
  readonly ratio?: Spread
  readonly goal?: Goal
  readonly met?: boolean
}

export const atLeast = (limit: number): Goal => ({ of: 'ratio', is: 'at least', limit })
export const atMost = (limit: number): Goal => ({ of: 'ratio', is: 'at most', limit })
export const valueAtMost = (limit: number): Goal => ({ of: 'value', is: 'at most', limit })
export const valueBelow = (limit: number): Goal => ({ of: 'value', is: 'below', limit })

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const [lowest = Number.NaN, highest = Number.NaN] = [sorted[0], sorted.at(-1)]
  return { median: sorted[sorted.length >> 1] ?? Number.NaN, lowest, highest }
}

interface Measured {
  readonly figure: string
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
  /** In the same rounds. */
  readonly yardstick?: readonly number[]
  readonly goal?: Goal
}

/** Creates a row from the values of all rounds. */
export function createRow({ figure, name, unit, values, yardstick, goal }: Measured): Row {
  const value = spreadOf(values)
  const compared = yardstick && {
    yardstick: spreadOf(yardstick),
    ratio: spreadOf(values.map((one, round) => one / (yardstick[round] ?? Number.NaN))),
  }
  const row = { figure, name, unit, value, ...compared }
  return goal ? { ...row, goal, met: isMet(goal, (goal.of === 'ratio' ? compared?.ratio : value)?.median) } : row
}

function isMet({ is, limit }: Goal, median = Number.NaN): boolean {
  if (is === 'at least') return median >= limit
  return is === 'at most' ? median <= limit : median < limit
}

const DIGITS: Readonly<Record<string, number>> = { ms: 2, us: 1, s: 2, MB: 1, MiB: 1 }
const SIGNS = { 'at least': '>=', 'at most': '<=', below: '<' } as const

function quantity(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : (DIGITS[unit] ?? 0)
  return `${value.toFixed(digits)}${unit.startsWith('/') ? '' : ' '}${unit}`
}

const range = (low: number, high: number) => (low === high ? '' : ` (${low.toFixed(2)}-${high.toFixed(2)})`)

/** The medians of both sides, and of the ratio also the lowest and the highest. Without a ratio, the spread of the value. */
function cells({ name, unit, value, yardstick, ratio, goal, met }: Row): string[] {
  const spread = ratio || value.lowest === value.highest ? '' : spreadText(value, unit)
  return [
    name,
    `${quantity(value.median, unit)}${spread}`,
    yardstick ? quantity(yardstick.median, unit) : '',
    ratio ? `${ratio.median.toFixed(2)}${range(ratio.lowest, ratio.highest)}` : '',
    goal ? `${SIGNS[goal.is]} ${goal.of === 'ratio' ? goal.limit.toFixed(2) : quantity(goal.limit, unit)}` : '',
    met === undefined ? '' : met ? 'yes' : 'no',
  ]
}

const spreadText = ({ lowest, highest }: Spread, unit: string) =>
  ` (${quantity(lowest, unit)} to ${quantity(highest, unit)})`

export const TABLE_HEAD = `| figure | handover-sim | yardstick | ratio | goal | met |\n|---|---|---|---|---|---|`
export const tableLine = (row: Row): string => `| ${cells(row).join(' | ')} |`

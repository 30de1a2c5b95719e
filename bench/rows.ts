/** Defines the rows of the result: medians with the lowest and the highest, ratios, goals; and prints them as a table. */

export type Goal = readonly [of: 'ratio' | 'value', sign: '>=' | '<=' | '<', limit: number]
export type Row = ReturnType<typeof createRow>

/** Creates a row from the values of all rounds, and those of the yardstick in the same rounds. */
export function createRow(
  name: string,
  unit: string,
  values: readonly number[],
  goal?: Goal,
  beside?: readonly number[],
) {
  const value = spreadOf(values)
  const yardstick = beside && spreadOf(beside)
  const ratio = beside && spreadOf(values.map((one, round) => one / (beside[round] ?? Number.NaN)))
  const [of, sign, limit = Number.NaN] = goal ?? []
  const { median } = (of === 'ratio' ? ratio : value) ?? { median: Number.NaN }
  const isMet = sign && { '>=': median >= limit, '<=': median <= limit, '<': median < limit }[sign]
  return { name, unit, value, yardstick, ratio, goal, isMet }
}

function spreadOf(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted.at(index) ?? Number.NaN
  return { median: at(sorted.length >> 1), lowest: at(0), highest: at(-1) }
}

const DIGITS: Readonly<Record<string, number>> = { ms: 2, us: 1, s: 2, MB: 1, MiB: 1 }
export const TABLE_HEAD = `| figure | handover-sim | yardstick | ratio | goal | met |\n|---|---|---|---|---|---|`

/** The medians of both sides, and of the ratio also the lowest and the highest. Without a ratio, those of the value. */
export function tableLine({ name, unit, value, yardstick, ratio, goal, isMet }: Row): string {
  const quantity = (of: number) => {
    const text = of.toFixed(Math.abs(of) >= 100 ? 0 : (DIGITS[unit] ?? 0))
    return unit.startsWith('/') ? text + unit : `${text} ${unit}`.trimEnd()
  }
  const hasSpread = !ratio && value.lowest !== value.highest
  const spread = hasSpread ? ` (${quantity(value.lowest)} to ${quantity(value.highest)})` : ''
  const cells = [
    name,
    `${quantity(value.median)}${spread}`,
    yardstick ? quantity(yardstick.median) : '',
    ratio ? `${ratio.median.toFixed(2)} (${ratio.lowest.toFixed(2)}-${ratio.highest.toFixed(2)})` : '',
    goal ? `${goal[1]} ${goal[0] === 'ratio' ? goal[2].toFixed(2) : quantity(goal[2])}` : '',
    isMet === undefined ? '' : isMet ? 'yes' : 'no',
  ]
  return `| ${cells.join(' | ')} |`
}

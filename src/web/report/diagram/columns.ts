/** Where the lifelines of a sequence diagram stand, and how a row lies across them. In percent of the width. */
import type { Actor, TimelineRow } from '../../../reporters/timeline.ts'

/** Most of what is worth reading passes between platform and intermediary: they have the widest gap. */
export const LIFELINES: readonly { readonly actor: Exclude<Actor, 'player'>; readonly at: number }[] = [
  { actor: 'user', at: 7 },
  { actor: 'platform', at: 33 },
  { actor: 'intermediary', at: 69 },
  { actor: 'agent', at: 93 },
]

const AT = new Map<Actor, number>(LIFELINES.map(({ actor, at }) => [actor, at]))

export interface Span {
  readonly left: number
  readonly right: number
  /** Null: it happened at one place, or belongs to no lifeline. */
  readonly points: 'left' | 'right' | null
}

/** From the nearer edge for what the player does, who has no lifeline. A fault strikes where it is. */
export function spanOf({ from, to, kind }: Pick<TimelineRow, 'from' | 'to' | 'kind'>): Span {
  const end = AT.get(to)
  if (end === undefined) return { left: 0, right: 100, points: null }
  const start = kind === 'fault' ? end : (AT.get(from) ?? (end < 50 ? 0 : 100))
  if (start === end) return { left: start, right: 100, points: null }
  return { left: Math.min(start, end), right: Math.max(start, end), points: start < end ? 'right' : 'left' }
}

export interface PlatformContext {
  /** Percent kept free on either side. */
  readonly left: number
  readonly right: number
  readonly side: 'start' | 'middle' | 'end'
}

/** Where words may stand: over their arrow, and further inwards when they are long. */
export function roomFor({ left, right, points }: Span): PlatformContext {
  const middle = points === null ? left : (left + right) / 2
  if (middle > 67) return { left: 0, right: 100 - (points === null ? left : right), side: 'end' }
  if (middle < 33 || points === null) return { left, right: 0, side: 'start' }
  const reach = Math.min(middle, 100 - middle)
  return { left: middle - reach, right: 100 - middle - reach, side: 'middle' }
}

/** Quiet for so long is drawn as a break. */
const BREAK_MS = 1000

/** How long nothing happened before a row; null when it followed at once. */
export function quietBefore(rows: readonly TimelineRow[], index: number): number | null {
  const before = rows[index - 1]
  const quiet = before === undefined ? rows[index]!.atMs : rows[index]!.atMs - before.atMs
  return quiet >= BREAK_MS ? quiet : null
}

/** Chats in the order they come up. */
export const conversationsOf = (rows: readonly TimelineRow[]): string[] => [
  ...new Set(rows.flatMap(({ conversation }) => (conversation === null ? [] : [conversation]))),
]

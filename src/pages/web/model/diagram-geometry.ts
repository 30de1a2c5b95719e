/** Places the arrows and labels of a sequence diagram, in percent of its width. */
import type { Actor } from '../../../evaluation/timeline/entry-line.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'

/**
 * Positions of the actors in percent; the runner has none. The widest gap is between platform and intermediary, where most
 * messages pass. As in the style sheet.
 */
export type Lifelines = Partial<Readonly<Record<Actor, number>>>

const WITH_AGENT: Lifelines = { user: 7, platform: 33, intermediary: 69, agent: 93 }
const WITHOUT_AGENT: Lifelines = { user: 9, platform: 40, intermediary: 89 }

/** The agent has a lifeline only where something happened at it. */
export const lifelinesOf = (rows: readonly TimelineRow[]): Lifelines =>
  rows.some(({ from, to }) => from === 'agent' || to === 'agent') ? WITH_AGENT : WITHOUT_AGENT

export const hasAgent = (lifelines: Lifelines): boolean => lifelines === WITH_AGENT

export interface ColumnSpan {
  readonly left: number
  readonly right: number
  /** Null: it happened at one place, or belongs to no lifeline. */
  readonly points: 'left' | 'right' | null
}

/** The runner has no lifeline: its arrows begin at the nearer edge. A fault has no arrow. */
export function spanOf(
  { from, to, kind }: Pick<TimelineRow, 'from' | 'to' | 'kind'>,
  lifelines: Lifelines = WITH_AGENT,
): ColumnSpan {
  const end = lifelines[to]
  if (end === undefined) return { left: 0, right: 100, points: null }
  const start = kind === 'fault' ? end : (lifelines[from] ?? (end < 50 ? 0 : 100))
  if (start === end) return { left: start, right: 100, points: null }
  return { left: Math.min(start, end), right: Math.max(start, end), points: start < end ? 'right' : 'left' }
}

export interface LabelSpace {
  /** Percent kept free on either side. */
  readonly left: number
  readonly right: number
  readonly side: 'start' | 'middle' | 'end'
}

/** The space for a label: over its arrow, and further inwards when it is long. */
export function labelSpace({ left, right, points }: ColumnSpan): LabelSpace {
  const middle = points === null ? left : (left + right) / 2
  if (middle > 67) return { left: 0, right: 100 - (points === null ? left : right), side: 'end' }
  if (middle < 33 || points === null) return { left, right: 0, side: 'start' }
  const reach = Math.min(middle, 100 - middle)
  return { left: middle - reach, right: 100 - middle - reach, side: 'middle' }
}

/** A pause of this length is shown. */
const BREAK_MS = 1000

/** The pause before a row in ms; null when it is short. */
export function quietBefore(rows: readonly TimelineRow[], index: number): number | null {
  const quiet = (rows[index]?.atMs ?? 0) - (rows[index - 1]?.atMs ?? 0)
  return quiet >= BREAK_MS ? quiet : null
}

/** Sender and receiver, for narrow pages and screen readers. */
export function routeOf({ from, to, kind }: TimelineRow): string {
  if (kind === 'step' || kind === 'fault') return ''
  return from === to ? (from === 'runner' ? '' : from) : `${from} to ${to}`
}

/** The chats of a timeline, in order of appearance. */
export const conversationsOf = (rows: readonly TimelineRow[]): string[] => [
  ...new Set(rows.flatMap(({ conversation }) => (conversation === null ? [] : [conversation]))),
]

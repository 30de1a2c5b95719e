/** Collects the evidence for one behaviour: which values each entry allows, and where entries contradict each other. */
import type { Behaviour } from '../../platform/contract/assumptions.ts'
import type { Knobs } from '../../platform/contract/knobs.ts'
import type { RecordingKnowledge } from './knowledge.ts'
import type { Place } from './observation.ts'

/** What every reader of evidence receives. */
export interface Reading {
  /** The knobs in force. */
  readonly knobs: Knobs
  readonly recording: RecordingKnowledge
  /** Adds what a place of the recording shows about a behaviour: the values that fit. */
  addEvidence(behaviour: Behaviour, fit: Fit, place: Place, part?: string): void
}

/** Values of an assumption without a knob. */
export const HOLDS = 'as assumed'
export const OTHERWISE = 'otherwise'

/** Measured times are compared with this tolerance. */
export const JITTER_MS = 500

/** What a recorder writes in place of a secret. */
export const MASKED = '***'

/** Values that an entry allows: some of a knob, as the config file writes them, or numbers of a range. */
export type Fit = readonly unknown[] | Range

export interface Range {
  readonly min: number
  readonly max: number
}

export const range = (min: number, max = Number.POSITIVE_INFINITY): Range => ({ min, max })

/** A stretch of a recording whose entries all allow one value. */
export interface Stretch {
  fit: Fit
  readonly first: Place
  last: Place
  count: number
  /** The first entries. */
  readonly places: Place[]
}

/** More would not help a reader. */
const MAX_PLACES = 5
const MAX_STRETCHES = 8

export const isRange = (fit: Fit): fit is Range => 'min' in fit

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The values that both allow; null for none. */
function common(a: Fit, b: Fit): Fit | null {
  if (isRange(a) !== isRange(b)) return null
  if (isRange(a) && isRange(b)) {
    const both = range(Math.max(a.min, b.min), Math.min(a.max, b.max))
    return both.min <= both.max ? both : null
  }
  const values = isRange(a) ? [] : a.filter(value => allows(b, value))
  return values.length === 0 ? null : values
}

/** Whether a value is allowed: one of a knob, or a number. */
export const allows = (fit: Fit, value: unknown): boolean =>
  isRange(fit) ? Number(value) >= fit.min && Number(value) <= fit.max : fit.some(allowed => same(allowed, value))

/** Whether entries exclude other values: a range needs an upper end, because a lower one is only what was seen. */
export const isDecided = (fit: Fit): boolean => (isRange(fit) ? Number.isFinite(fit.max) : fit.length === 1)

/** Adds an entry to the stretches of a behaviour. An entry that excludes all that was seen before begins another one. */
export function extendStretches(stretches: Stretch[], fit: Fit, place: Place): void {
  const last = stretches.at(-1)
  const both = last === undefined ? null : common(last.fit, fit)
  if (last !== undefined && (both !== null || stretches.length === MAX_STRETCHES)) {
    last.fit = both ?? last.fit
    last.last = place
    last.count++
    if (last.places.length < MAX_PLACES) last.places.push(place)
  } else stretches.push({ fit, first: place, last: place, count: 1, places: [place] })
}

const STEPS = [3_600_000, 1_800_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100, 50, 10, 1]

/** The roundest number of a range: of milliseconds, or of bytes. */
export function roundNumber({ min, max }: Range, unit: 'ms' | 'bytes'): number {
  if (unit === 'bytes') {
    const power = 2 ** Math.floor(Math.log2(Math.min(max, Number.MAX_SAFE_INTEGER)))
    if (power >= min) return power
  }
  if (!Number.isFinite(max)) return Math.ceil(min)
  const center = (min + max) / 2
  const step = STEPS.find(size => Math.floor(max / size) * size >= min && max >= size) ?? 1
  return Math.min(Math.floor(max / step) * step, Math.max(Math.ceil(min / step), Math.round(center / step)) * step)
}

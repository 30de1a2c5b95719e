/** Parses how many conversations begin in a second, and says when each of them does. */
import { parseDuration } from '../../base/text/quantities.ts'

/** A time in which the rate goes from one value to another. */
export interface ArrivalStage {
  /** Conversations a second. */
  readonly from: number
  readonly to: number
  /** Null: until the end. */
  readonly ms: number | null
}

const RATE = '(\\d+(?:\\.\\d+)?)'
const STAGE = new RegExp(`^(?:${RATE}\\.\\.)?${RATE}/(s|m)(?: +(?:over|for) +(\\S+))?$`)

/** `50/s`, `0..200/s over 2m`, several with commas; null when it is none of these. Only the last may have no time. */
export function parseArrivals(text: string): readonly ArrivalStage[] | null {
  const stages: ArrivalStage[] = []
  const parts = text.split(',').map(part => part.trim())
  for (const [index, part] of parts.entries()) {
    const [, from, to, unit, time] = STAGE.exec(part) ?? []
    if (to === undefined) return null
    const perS = (rate: string) => Number(rate) / (unit === 'm' ? 60 : 1)
    const ms = time === undefined ? null : parseDuration(time)
    const isRamp = from !== undefined
    if ((time !== undefined && !ms) || (ms === null && (isRamp || index < parts.length - 1))) return null
    stages.push({ from: perS(from ?? to), to: perS(to), ms })
  }
  return stages.some(({ from, to }) => from + to > 0) ? stages : null
}

/** The rate at a moment of the load, in conversations a second. */
export function rateAt(stages: readonly ArrivalStage[], atMs: number): number {
  let startMs = 0
  for (const { from, to, ms } of stages) {
    if (ms === null || atMs < startMs + ms) return ms === null ? to : from + ((to - from) * (atMs - startMs)) / ms
    startMs += ms
  }
  return 0
}

/** The moments at which conversations begin, evenly and not after `untilMs`. */
export function* arrivalTimes(stages: readonly ArrivalStage[], untilMs: number): Generator<number> {
  let startMs = 0
  /** How much of the next conversation the time until now was worth. */
  let share = 1
  for (const { from, to, ms } of stages) {
    const lengthMs = Math.min(ms ?? untilMs, untilMs - startMs)
    if (lengthMs <= 0) return
    // After t seconds of the stage there were from * t + slope * t² / 2 arrivals.
    const slope = ms === null ? 0 : ((to - from) * 1000) / ms
    const countAt = (seconds: number) => from * seconds + (slope * seconds * seconds) / 2
    const total = countAt(lengthMs / 1000)
    let count = 1 - share
    for (; count < total; count++) {
      const seconds =
        Math.abs(slope) < 1e-9
          ? count / from
          : (-from + Math.sqrt(Math.max(0, from * from + 2 * slope * count))) / slope
      yield startMs + seconds * 1000
    }
    share = 1 - (count - total)
    startMs += lengthMs
  }
}

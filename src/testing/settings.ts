/** Options of an expectation, read strictly: a mistake in a test is told as one. */

import { ENDPOINTS } from '../contract/endpoints.ts'
import { isMap } from '../files/is-map.ts'
import type { Times } from '../scenario/action.ts'
import { InvalidOptionError } from '../simulator/options.ts'
import { shown } from '../simulator/validate-options.ts'
import { parseDuration } from '../text/duration.ts'
import { nearest } from '../text/near-names.ts'

/** A number means exactly so many. */
export type HowOften = number | { readonly min?: number; readonly max?: number }

export function durationMs(name: string, written: string): number
export function durationMs(name: string, written: string | undefined): number | undefined
export function durationMs(name: string, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const ms = parseDuration(written)
  if (ms !== null) return ms
  throw invalid(name, `${name} must be a duration such as 500ms or 2s, got ${JSON.stringify(written)}.`)
}

export function timesOf(written: HowOften | undefined): Times {
  if (written === undefined) return { min: 1, max: 1 }
  const times = typeof written === 'number' ? { min: written, max: written } : { min: 1, max: Infinity, ...written }
  const known = typeof written === 'number' || (isMap(written) && Object.keys(written).every(isBound))
  const counts = known && Number.isInteger(times.min) && times.min >= 0 && times.max >= times.min
  if (counts) return times
  throw invalid('times', `times must be a number, or { min, max } in this order, got ${JSON.stringify(written)}.`)
}

const isBound = (name: string) => name === 'min' || name === 'max'

/** Throws `InvalidOptionError` for a call that the platform does not have. */
export function checkCall(call: string): void {
  const known = Object.keys(ENDPOINTS)
  if (known.includes(call)) return
  const meant = nearest(call ?? '', known) || `; there are ${known.join(', ')}.`
  throw invalid('call', `${shown(call)} is no call of the platform${meant}`)
}

export const invalid = (name: string, message: string) => new InvalidOptionError([{ name, message }])

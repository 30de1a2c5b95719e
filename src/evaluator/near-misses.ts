/** The calls that were looked at and not taken, the most telling first, each with its reason. */

import { type Call, isLater, nameOf, shortName } from './call.ts'
import { distanceOf } from './matching/distance.ts'
import { differencesOf, type Judging, type Obstacle, obstacles, type Wanted } from './obstacles.ts'
import type { NearMiss } from './verdict.ts'
import { seconds } from './wording.ts'

export interface Miss extends NearMiss {
  readonly call: Call
  /** What was in its way; empty when it was answered too late to be looked at, or stands at the wrong place of a sequence. */
  readonly obstacles: readonly Obstacle[]
  readonly score: number
}

/** How far a call is from being the right one. */
const WEIGHTS: Readonly<Record<Obstacle, number>> = {
  fields: 10,
  key: 15,
  bot: 15,
  alias: 15,
  late: 20,
  chat: 25,
  earlier: 30,
  before: 40,
  claimed: 50,
  call: 100,
}

const MOST = 8

export function nearMissesOf(judging: Judging, wanted: Wanted, taken: readonly Call[], endMs: number | null): Miss[] {
  const own = new Set(taken.map(({ seq }) => seq))
  const nearMisses = judging.index.calls
    .filter(call => !own.has(call.seq))
    .map(call => missOf(judging, wanted, call, freeText(call, taken, endMs)))
    .filter(miss => isTelling(miss, wanted))
  return nearMisses.sort((a, b) => a.score - b.score || b.call.readAt - a.call.readAt).slice(0, MOST)
}

/** `free`: why it was not taken though nothing is in its way. */
function missOf(judging: Judging, wanted: Wanted, call: Call, free: string): Miss {
  const rules = obstacles(wanted, call, judging)
  const names = rules.map(({ obstacle }) => obstacle)
  const only = rules.find(({ obstacle }) => obstacle === 'claimed' || obstacle === 'call')
  const why =
    only === undefined ? rules.map(rule => rule.why(call, wanted, judging)) : [only.why(call, wanted, judging)]
  const differences =
    only === undefined && names.includes('fields') ? differencesOf(call, wanted.leaf, judging.options) : []
  return {
    call,
    obstacles: names,
    score: names.reduce((sum, name) => sum + WEIGHTS[name], 0) + distanceOf(differences),
    seq: call.seq,
    what: nameOf(call),
    afterMs: Math.round(call.readAt - startOf(judging, wanted)),
    why: why.length > 0 ? why.join('; ') : free,
    differences,
  }
}

/** In a sequence it may have come before what has to come first. */
function freeText(call: Call, taken: readonly Call[], endMs: number | null): string {
  const first = taken.find(one => isLater(one, call))
  if (first !== undefined && call.atMs <= (endMs ?? call.atMs))
    return `before ${shortName(first)}, which has to come first`
  return `read in time, answered ${seconds(call.atMs - (endMs ?? call.readAt))} too late to be seen`
}

const startOf = ({ index }: Judging, { from }: Wanted): number =>
  Number.isFinite(from.atMs) ? from.atMs : (index.started?.at_ms ?? 0)

/** What belongs to others explains nothing: their claimed calls, and their calls with another text. */
function isTelling({ obstacles: names }: Miss, { leaf }: Wanted): boolean {
  if (names.includes('call')) return names.length <= 2 && names.every(name => name === 'call' || name === 'fields')
  if (!names.includes('chat')) return true
  return !names.includes('claimed') && !names.includes('before') && !(leaf.body !== null && names.includes('fields'))
}

/** Without what only the judge needs. */
export const shown = ({ seq, what, afterMs, why, differences }: Miss): NearMiss => ({
  seq,
  what,
  afterMs,
  why,
  differences,
})

/** Decides what the evidence for one behaviour shows, and which value of its knob fits. */
import { formatDuration } from '../../base/text/quantities.ts'
import type { Behaviour } from '../../platform/contract/assumptions.ts'
import { formatKnob, isKnob, type Knobs, parseKnob } from '../../platform/contract/knobs.ts'
import { allows, type Fit, HOLDS, isDecided, isRange, roundNumber, type Stretch } from './evidence.ts'
import { KNOB_PARTS } from './knob-parts.ts'
import type { Place } from './observation.ts'

export type EvidenceStatus = 'confirmed' | 'contradicted' | 'changed' | 'not seen'

/** What recordings show about one knob, or about an assumption without one. */
export interface BehaviourResult {
  readonly name: Behaviour
  readonly status: EvidenceStatus
  /** The value in force, as the config file writes it; null without a knob. */
  readonly inForce: unknown
  /** The value that fits the recordings; undefined when none is known. */
  readonly fits: unknown
  /** The values or the range that the recordings allow, when they do not decide. */
  readonly allowed: Fit | null
  readonly count: number
  readonly first: Place | null
  readonly last: Place | null
  readonly places: readonly Place[]
  /** Between which entries the platform changed. */
  readonly changes: readonly { readonly from: Place; readonly to: Place }[]
}

const MAX_PLACES = 5

/** `stretchesByPart`: the evidence for each part of the knob; a knob without parts has the part ''. */
export function resultOf(
  name: Behaviour,
  stretchesByPart: ReadonlyMap<string, readonly Stretch[]>,
  knobs: Knobs,
): BehaviourResult {
  const parts = [...stretchesByPart].map(([part, stretches]) => partResult(name, part, stretches, knobs))
  const status = worstStatus(parts)
  const shown = parts.filter(part => part.status === status)
  const stretches = shown.flatMap(part => part.stretches)
  const changes = shown.flatMap(part =>
    part.stretches.slice(1).map(({ first: to }, index) => ({ from: part.stretches[index]?.last ?? to, to })),
  )
  const inForce = isKnob(name) ? formatKnob(name, knobs[name]) : null
  return {
    name,
    status,
    inForce,
    fits: status === 'contradicted' ? fittingValue(name, parts, knobs) : status === 'confirmed' ? inForce : undefined,
    allowed: stretches.length === 1 ? (stretches[0]?.fit ?? null) : null,
    count: stretches.reduce((sum, { count }) => sum + count, 0),
    first: stretches[0]?.first ?? null,
    last: stretches.at(-1)?.last ?? null,
    places: stretches.flatMap(({ places }) => places).slice(0, MAX_PLACES),
    changes: status === 'changed' ? changes : [],
  }
}

const WORST_FIRST: readonly EvidenceStatus[] = ['changed', 'contradicted', 'confirmed', 'not seen']

export const worstStatus = (results: readonly { readonly status: EvidenceStatus }[]): EvidenceStatus =>
  WORST_FIRST.find(status => results.some(result => result.status === status)) ?? 'not seen'

interface PartResult {
  readonly part: string
  readonly status: EvidenceStatus
  readonly value: unknown
  readonly stretches: readonly Stretch[]
}

function partResult(name: Behaviour, part: string, stretches: readonly Stretch[], knobs: Knobs): PartResult {
  const [stretch, anotherStretch] = stretches
  if (stretch === undefined || anotherStretch !== undefined)
    return { part, status: stretch === undefined ? 'not seen' : 'changed', value: undefined, stretches }
  const { fit } = stretch
  const inForce = valueInForce(name, part, fit, knobs)
  const isAllowed = allows(fit, inForce)
  const status = !isAllowed ? 'contradicted' : isDecided(fit) ? 'confirmed' : 'not seen'
  const unit = name === 'limits.body' ? 'bytes' : 'ms'
  const value = isAllowed ? inForce : isRange(fit) ? roundNumber(fit, unit) : fit[0]
  return { part, status, value, stretches }
}

/** The value in force as evidence has it: as the config file writes it, or the number of a range. `off` is no limit. */
function valueInForce(name: Behaviour, part: string, fit: Fit, knobs: Knobs): unknown {
  if (!isKnob(name)) return HOLDS
  const parts = KNOB_PARTS[name]
  if (parts !== undefined) return parts.inForce(knobs, part)
  return isRange(fit) ? (knobs[name] ?? Number.POSITIVE_INFINITY) : formatKnob(name, knobs[name])
}

/** The value as the config file writes it; undefined when the knob cannot have it. */
function fittingValue(name: Behaviour, parts: readonly PartResult[], knobs: Knobs): unknown {
  if (!isKnob(name)) return undefined
  const decided = parts.filter(({ status }) => status === 'contradicted' || status === 'confirmed')
  let value = parts.find(({ status }) => status === 'contradicted')?.value
  const combine = KNOB_PARTS[name]?.combined
  if (combine !== undefined)
    value = combine(knobs, new Map(decided.map(({ part, value: partValue }) => [part, partValue])))
  if (typeof value === 'number' && name !== 'limits.body') value = formatDuration(value)
  return parseKnob(name, value) === undefined ? undefined : value
}

/** Everything of a plan but its steps, defaults filled in. */

import { allowedFor, isKnob, type KnobName, parseKnob } from '../../contract/knobs.ts'
import { isMap } from '../../source/is-map.ts'
import { parseDuration } from '../../text/duration.ts'
import { AVAILABILITY, atLeast, DURATION, FLAG, SEVERITY } from '../format/held.ts'
import type { ScenarioFile } from '../format/scenario.ts'
import type { Plan } from '../plan.ts'
import type { Here } from './here.ts'
import { fillKnown } from './templates.ts'

type Header = Pick<
  Plan,
  | 'name'
  | 'seed'
  | 'clock'
  | 'timeouts'
  | 'strict'
  | 'config'
  | 'bot'
  | 'availability'
  | 'businessHours'
  | 'tokens'
  | 'tags'
  | 'spec'
>

export function headerOf(here: Here, scenario: ScenarioFile): Header {
  return {
    name: here.words(scenario.name, ['name']),
    tags: (scenario.tags ?? []).map((tag, index) => here.words(tag, ['tags', index])),
    spec: (scenario.spec ?? []).map((rule, index) => here.words(rule, ['spec', index])),
    seed: here.held(atLeast(0), scenario.seed, ['seed'], null),
    clock: clockOf(scenario.clock),
    timeouts: timeoutsOf(here, scenario.timeouts ?? {}),
    strict: strictOf(here, scenario.strict),
    config: configOf(here, scenario.config ?? {}),
    bot: botOf(here, scenario.bot ?? {}),
    availability: here.held(AVAILABILITY, scenario.availability, ['availability'], null),
    businessHours: (scenario.business_hours ?? null) as Plan['businessHours'],
    tokens: here.held(FLAG, scenario.tokens, ['tokens'], false),
  }
}

function clockOf(clock: ScenarioFile['clock']): Plan['clock'] {
  if (clock === undefined) return null
  if (typeof clock === 'string') return { mode: clock }
  return { mode: clock.mode, ...(clock.start === undefined ? {} : { start: clock.start as string }) }
}

const usual = (text: string) => parseDuration(text)!

function timeoutsOf(here: Here, written: NonNullable<ScenarioFile['timeouts']>): Plan['timeouts'] {
  const read = (name: keyof typeof written, otherwise: string) =>
    here.held(DURATION, written[name], ['timeouts', name], usual(otherwise))
  return {
    ackMs: read('ack', '10s'),
    expectMs: read('expect', '5s'),
    settleMs: read('settle', '300ms'),
    scenarioMs: read('scenario', '60s'),
  }
}

/** Reading is always allowed, unless the scenario says what is. */
const ALLOWED = ['transcript', 'summarize', 'chat'] as const

function strictOf(here: Here, written: ScenarioFile['strict']): Plan['strict'] {
  const { unexpected, contract, allow = ALLOWED } = typeof written === 'object' ? written : {}
  const otherwise = written === false ? 'warn' : 'fail'
  return {
    unexpected: here.held(SEVERITY, unexpected, ['strict', 'unexpected'], otherwise),
    contract: here.held(SEVERITY, contract, ['strict', 'contract'], otherwise),
    allow: allow as Plan['strict']['allow'],
  }
}

/** Dotted names, whichever way they were written. */
function configOf(here: Here, written: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const config: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(written)) {
    const inner = isMap(value) && !isKnob(key) ? Object.entries(value) : []
    const named = inner.length > 0 ? inner.map(([rest, one]) => [[key, rest], one] as const) : [[[key], value] as const]
    for (const [path, one] of named) takeKnob(here, config, path, one)
  }
  return config
}

function takeKnob(here: Here, config: Record<string, unknown>, path: readonly string[], written: unknown): void {
  const name = path.join('.')
  const value = fillKnown(written, here.known.scope)
  const at = ['config', ...path]
  if (Object.hasOwn(config, name)) here.complain(at, `sets ${name} again`, 'key')
  else if (isKnob(name) && parseKnob(name, value) === undefined) complainOf(here, name, at, value)
  config[name] = value
}

const complainOf = (here: Here, name: KnobName, at: readonly string[], value: unknown) =>
  here.complain(at, `must be ${allowedFor(name)}, got ${JSON.stringify(value)}`)

function botOf(here: Here, { id, name, replies }: NonNullable<ScenarioFile['bot']>): Plan['bot'] {
  const read = here.held(atLeast(1), id, ['bot', 'id'], undefined)
  return {
    ...(read === undefined ? {} : { id: read }),
    ...(name === undefined ? {} : { name: String(fillKnown(name, here.known.scope)) }),
    ...(replies === undefined ? {} : { replies: fillKnown(replies, here.known.scope) as unknown[] }),
  }
}

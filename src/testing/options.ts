/** Validates options of a test: those of simulators, servers, workspaces and chats, and those of expectations. */

import { isMap } from '../base/objects.ts'
import { nearest } from '../base/text/error-text.ts'
import { parseDuration } from '../base/text/quantities.ts'
import type { Times } from '../evaluation/scenario/plan.ts'
import { ENDPOINTS } from '../platform/contract/endpoints.ts'
import {
  anything,
  callable,
  describeValue,
  flag,
  host,
  invalidOption,
  listKind,
  map,
  type OptionKind,
  optionKind,
  port,
  positive,
  SETTING_KINDS,
  type Shape,
  text,
  whole,
} from '../platform/simulator/options.ts'
import { controlToken, toOptions } from '../server/config/settings.ts'

/** `createSimulator` checks later whether `start` is a date. */
const clock = optionKind(
  '"real", "virtual" or { mode: "virtual", start }',
  value =>
    value === 'real' ||
    value === 'virtual' ||
    (isMap(value) && value.mode === 'virtual' && Object.keys(value).every(name => name === 'mode' || name === 'start')),
)

const duration = optionKind('a duration such as 500ms or 2s', value => parseDuration(value) !== null)

const AGENT: Shape = {
  ...Object.fromEntries(
    ['accept', 'says', 'type', 'stop', 'leave', 'away', 'back', 'inbox'].map(verb => [verb, callable]),
  ),
  does: map,
  timeout: duration,
}

/** What a worker may export beside `fetch`. The simulator does not call it. */
const workerHandler: OptionKind = { ...callable, isOffered: false }
const WORKER_HANDLERS = ['scheduled', 'queue', 'email', 'connect', 'tail', 'trace', 'tailStream', 'test']

const { seed, base_url: baseUrl, ...furtherKinds } = SETTING_KINDS
const COMMON: Shape = toOptions<OptionKind | Shape>({
  seed,
  clock,
  ...furtherKinds,
  'webhook.fetch': optionKind(
    'a function from Request to Response (an Express application goes into fromNode)',
    value => typeof value === 'function' && !('listen' in value),
  ),
  'webhook.env': map,
  ...Object.fromEntries(WORKER_HANDLERS.map(name => [`webhook.${name}`, workerHandler])),
  'webhook.listener': callable,
  knobs: map,
  translate: callable,
  summarize: callable,
  journalLimit: positive,
  agent: AGENT,
  expectTimeout: duration,
  ackTimeout: duration,
})

export const SIMULATOR_SHAPE: Shape = { ...COMMON, baseUrl }

export const WORKSPACE_SHAPE: Shape = { ...COMMON, name: text }

export const SERVER_SHAPE: Shape = {
  ...SIMULATOR_SHAPE,
  port,
  host,
  inspector: flag,
  controlToken,
  snapshot: anything,
  onStopped: callable,
  onStopRequested: callable,
}

/** Whether only a server has this option. */
export const isServerOption = (name: string): boolean =>
  Object.hasOwn(SERVER_SHAPE, name) && !Object.hasOwn(SIMULATOR_SHAPE, name)

const USER: Shape = { id: text, firstName: text, lastName: text, gender: text }

const buttons = listKind(map, 'an array of buttons')

/** A history row by the name that says who wrote it. */
const historyRow = optionKind(
  '{ user }, { bot, buttons? } or { agent, text }',
  row =>
    map.fits(row) &&
    (text.fits(row.user) ||
      (text.fits(row.bot) && (row.buttons === undefined || buttons.fits(row.buttons))) ||
      (text.fits(row.agent) && text.fits(row.text))),
)

const CHAT: Shape = {
  language: text,
  source: text,
  history: listKind(historyRow, 'an array'),
  transcript: text,
  context: map,
  labels: listKind(text, 'an array of strings'),
  botId: whole,
  id: text,
}

/** `user: null` stands for an unknown user. */
export const chatShape = (user: unknown): Shape => ({ ...CHAT, user: user === null ? anything : USER })

/** An expected number of calls, events or items: exactly, or from `min` to `max`. */
export type ExpectedTimes = number | { readonly min?: number; readonly max?: number }

export function durationMs(name: string, written: string): number
export function durationMs(name: string, written: string | undefined): number | undefined
export function durationMs(name: string, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const ms = parseDuration(written)
  if (ms !== null) return ms
  throw invalidOption(name, `${name} must be a duration such as 500ms or 2s, got ${JSON.stringify(written)}.`)
}

export function parseTimes(written: ExpectedTimes | undefined): Times {
  if (written === undefined) return { min: 1, max: 1 }
  const times = typeof written === 'number' ? { min: written, max: written } : { min: 1, max: Infinity, ...written }
  const hasKnownKeys = typeof written === 'number' || (isMap(written) && Object.keys(written).every(isBound))
  const isRange = hasKnownKeys && Number.isInteger(times.min) && times.min >= 0 && times.max >= times.min
  if (isRange) return times
  throw invalidOption('times', `times must be a number, or { min, max } in this order, got ${JSON.stringify(written)}.`)
}

const isBound = (name: string) => name === 'min' || name === 'max'

/** Throws `InvalidOptionError` for a call that the platform does not have. */
export function checkCall(call: string): void {
  const calls = Object.keys(ENDPOINTS)
  if (calls.includes(call)) return
  const hint = nearest(call ?? '', calls) || `; the calls are ${calls.join(', ')}.`
  throw invalidOption('call', `${describeValue(call)} is not a call of the platform${hint}`)
}

/** Defines the shapes of the options of a simulator in a test, for callers without type checks. */
import { isMap } from '../files/is-map.ts'
import {
  anything,
  callable,
  either,
  flag,
  type Kind,
  list,
  map,
  only,
  positive,
  type Shape,
  text,
  whole,
} from '../simulator/validate-options.ts'

const httpUrl = (example: string): Kind => ({
  expected: `an http or https URL such as ${example}`,
  fits: value => typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value),
})
const address = httpUrl('https://bot.example.test')
const baseUrl: Kind = {
  expected: 'an http or https URL without a query, such as https://bot.example.test',
  fits: value => address.fits(value) && !/[?#]/.test(value as string),
}

/** `createSimulator` checks later whether `start` is a date. */
const clock: Kind = {
  expected: '"real", "virtual" or { mode: "virtual", start }',
  fits: value =>
    value === 'real' ||
    value === 'virtual' ||
    (isMap(value) && value.mode === 'virtual' && Object.keys(value).every(name => name === 'mode' || name === 'start')),
}

const WEBHOOK: Shape = { url: httpUrl('http://127.0.0.1:3000/webhook'), fetch: callable }

const AGENT: Shape = {
  ...Object.fromEntries(
    ['accept', 'says', 'type', 'stop', 'leave', 'away', 'back', 'inbox'].map(verb => [verb, callable]),
  ),
  does: map,
  timeout: text,
}

const COMMON: Shape = {
  seed: whole,
  clock,
  bot: { id: positive, name: text, organizationId: whole, replies: list },
  webhook: WEBHOOK,
  businessHours: either(map, only(null)),
  knobs: map,
  markers: flag,
  translate: callable,
  summarize: callable,
  journalLimit: positive,
  agent: AGENT,
  expectTimeout: anything, // Checked as a duration where it is used.
}

export const SIMULATOR: Shape = { ...COMMON, baseUrl }

export const WORKSPACE: Shape = { ...COMMON, name: text }

export const SERVER: Shape = {
  ...SIMULATOR,
  port: anything, // `listen` checks it.
  host: text,
  inspector: flag,
  controlToken: text,
  snapshot: anything,
  onStopped: callable,
}

const USER: Shape = { id: text, first_name: text, last_name: text, gender: text }

const CHAT: Shape = {
  language: text,
  source: text,
  history: list,
  transcript: text,
  context: map,
  labels: { expected: 'an array of strings', fits: value => Array.isArray(value) && value.every(text.fits) },
  botId: whole,
  id: text,
}

/** `user: null` is a user without any data. */
export const chatShape = (user: unknown): Shape => ({ ...CHAT, user: user === null ? anything : USER })

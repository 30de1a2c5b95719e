/** Answers name the behaviours that the platform's description leaves open: those that few calls depend on. */

import { expect, test } from 'vitest'
import { assumedBy, call, post, world } from '../support/test-simulator.ts'

const asIs = (body: string) => body
const nested = (levels: number) => (body: string) =>
  body.replace(/}$/, `,"x":${'['.repeat(levels)}${']'.repeat(levels)}}`)

test.each<[expected: string, change: (body: string) => string, headers: Record<string, string>]>([
  ['400 errors.body errors.validation typing.timeout', body => body.replace(/}$/, ',"timeout":0}'), {}],
  ['200 api.unknownFields typing.idle typing.response', nested(199), {}],
  ['400 errors.body limits.nesting', nested(200), {}],
  ['200 api.byteOrderMark typing.idle typing.response', body => `\ufeff${body}`, {}],
  ['200 api.contentType typing.idle typing.response', asIs, { 'content-type': 'text/plain' }],
  ['200 api.contentEncoding typing.idle typing.response', asIs, { 'content-encoding': 'gzip' }],
  ['400 api.contentEncoding errors.body', () => '\u001f\u008b', { 'content-encoding': 'gzip' }],
])('typing_start answers %s', async (expected, change, headers) => {
  const { sim } = world()
  const { id: chat_id, botId: bot_id } = await sim.chat()
  const body = change(JSON.stringify({ bot_id, chat_id }))
  const reply = await call(sim, '/api/v2/handover/typing_start', { headers, body })
  expect([reply.status, ...assumedBy(reply)].join(' ')).toBe(expected)
})

/** Assumptions that only the answers of a start with this value of their knob name. */
test.each([
  ['limits.rate', '1/1m', 429],
  ['errors.idMismatch', '403', 403],
  ['availability.closedBlocksStart', 'on', 409],
  ['api.answers', 'extra', 200],
])('with %s=%s, an answer names it', async (knob, value, status) => {
  const { sim } = world({ knobs: { 'keys.more': ['other-key:2002'] } })
  const chat = await sim.chat(knob === 'errors.idMismatch' ? { botId: 2002 } : {})
  sim.setAvailability({ availability: 'CLOSED' })
  await sim.configure({ [knob]: value })
  if (knob === 'limits.rate') await post(sim, 'typing_stop', chat)
  const reply = await post(sim, 'start', chat, { bot_id: sim.botId })
  expect([reply.status, assumedBy(reply)]).toEqual([status, expect.arrayContaining([knob])])
})

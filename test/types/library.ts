/** What an editor knows of the library: right things compile, wrong ones do not. Nothing here runs. */
import { createServer } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect } from 'vitest'
import {
  createSimulator,
  fromFastify,
  fromFetch,
  fromLambda,
  fromNode,
  type KnobSettings,
  type ReceivedCall,
  type Simulator,
  startSimulator,
} from '../../src/index.ts'
import { $, defineScenario, expectCall as expectStep, fault, wait } from '../../src/testing/scenario.ts'
import '../../src/testing/vitest/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <_T extends true>(): void => {}

export async function everyCall(sim: Simulator): Promise<void> {
  const ada = await sim.chat({ language: 'nb' })

  const start = await ada.expectCall('start', { supports_attachment: true }, { within: '3s' })
  is<Same<typeof start, ReceivedCall<'start'>>>()
  is<Same<typeof start.body.chat_id, string>>()
  is<Same<typeof start.body.supports_attachment, boolean | undefined>>()
  is<Same<typeof start.response.event, 'TAKEOVER STARTED'>>()
  start.body.sender?.language_codes?.map(code => code.toUpperCase())
  // @ts-expect-error not a field of start
  start.body.message

  const messages = await ada.expectCall('message', { message: /hi/ }, { times: 2 })
  is<Same<typeof messages, ReceivedCall<'message'>[]>>()
  const typing = await ada.expectCall('typing_start', { timeout: { $lte: 10_000 } })
  is<Same<typeof typing.body.timeout, number | undefined>>()
  await ada.expectCall('typing_stop')
  const summary = await ada.expectCall('summarize')
  is<Same<typeof summary.response.summary, string>>()
  const transcript = await ada.expectCall('transcript')
  is<Same<(typeof transcript.response.chat.messages)[0]['from_bot'], boolean>>()
  const chat = await ada.expectCall('chat')
  is<Same<typeof chat.response.chat.language_code, string>>()
  const availability = await sim.expectCall('availability', { availability: 'CLOSED', reason: 'OTHER' })
  is<Same<typeof availability.body.availability, 'OPEN' | 'CLOSED'>>()
  is<Same<typeof availability.response.bot_id, string>>()

  // @ts-expect-error no such call
  await ada.expectCall('begin')
  // @ts-expect-error availability belongs to the bot
  await ada.expectCall('availability')
  // @ts-expect-error start belongs to a chat
  await sim.expectCall('start')
  // @ts-expect-error misspelt
  await ada.expectCall('start', { suports_attachment: true })
  // @ts-expect-error misspelt inside
  await ada.expectCall('start', { sender: { nam: 'Anna' } })
  // @ts-expect-error a text is wanted
  await ada.expectCall('message', { message: 7 })
  // @ts-expect-error a duration has a unit and is a text
  await ada.expectCall('start', {}, { within: 3000 })
  // @ts-expect-error a negative says for how long
  await ada.expectNone('message')
  await ada.expectNone('message', { for: '500ms' })
  await ada.expectNone('message', { message: 'Hi' }, { for: '500ms' })
  // @ts-expect-error not a call or a finding
  await sim.assertClean({ allow: ['mesage'] })
  await sim.assertClean({ allow: ['typing_start', 'sender-incomplete'] })
}

export async function everythingElse(): Promise<void> {
  const sim = createSimulator({ agent: { inbox: () => [{ text: 'Hi' }], does: { transfer: ({ chat }) => chat.id } } })
  const ada = await sim.chat()
  await ada.expectAgentSees('Hi', { times: 1, within: '1s' })
  await ada.expectAgentSees({ request: true })
  is<Same<Awaited<ReturnType<typeof ada.waitFor<string | undefined>>>, string>>()
  const pressed = await ada.press('handover', { async: true })
  is<Same<NonNullable<typeof pressed.ack>['durationMs'], number>>()
  await ada.expectCall('start', {}, { since: pressed })
  await ada.says('Hi', { attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 87 }] })
  // @ts-expect-error not an option
  await ada.says('Hi', { wait: true })
  await using server = await startSimulator({ port: 0, expectTimeout: '1s' })
  await (await server.chat()).expectCall('start')
  // @ts-expect-error not a verb
  createSimulator({ agent: { answers: () => {} } })
}

export async function matchers(sim: Simulator): Promise<void> {
  const ada = await sim.chat()
  expect(ada).toHaveReceived('start', { sender: { name: 'Anna' } }, { times: 1 })
  expect(sim).not.toHaveReceived('message', { message: expect.stringContaining('Hi') })
  expect(sim).toHaveDelivered('MESSAGE FROM USER', { message: /Hi/, attachments: [{ name: 'a.pdf' }] })
  // @ts-expect-error no such call
  expect(ada).toHaveReceived('begin')
  // @ts-expect-error not a field of start
  expect(ada).toHaveReceived('start', { message: 'Hi' })
  // @ts-expect-error not a field of the event
  expect(ada).toHaveDelivered('REQUESTING TAKEOVER', { message: 'Hi' })
}

export function fetchOf(sim: Simulator): void {
  const handedIn: typeof fetch = sim.fetch
  const webhook: (request: Request) => Promise<Response> = sim.fetch
  is<Same<ReturnType<typeof handedIn>, ReturnType<typeof webhook>>>()
}

export async function durations(sim: Simulator): Promise<void> {
  const ada = await sim.chat()
  await ada.expectCall('start', {}, { within: '2.5s' })
  // @ts-expect-error the unit is ms, s, m or h
  await ada.expectCall('start', {}, { within: '5 seconds' })
  // @ts-expect-error no duration
  await sim.clock.advance('soon')
  // @ts-expect-error no duration
  createSimulator({ expectTimeout: '2 secs', ackTimeout: '10s' })
  wait('10m')
  wait('$(pause)')
  // @ts-expect-error no duration
  wait('ten minutes')
  // @ts-expect-error no duration
  expectStep('start', {}, { within: '2 seconds' })
}

export async function knobs(sim: Simulator): Promise<void> {
  const retry: KnobSettings = { 'webhook.retry': ['1s', '5s'], 'webhook.timeout': '2s', 'keys.more': 'other-key:2002' }
  const words: KnobSettings = { 'start.again': 409, 'strict.sender': true, 'transcript.takenOver': null }
  createSimulator({ knobs: { ...retry, ...words, 'limits.rate': '10/1s', 'limits.attachmentKb': 'off' } })
  await sim.configure({ 'typing.webhook': 'off', 'webhook.url': null })
  // @ts-expect-error misspelt
  createSimulator({ knobs: { 'webhook.retries': ['1s'] } })
  // @ts-expect-error not a value of it
  createSimulator({ knobs: { 'webhook.redirect': 'folow' } })
  // @ts-expect-error not a duration
  createSimulator({ knobs: { 'webhook.timeout': '5 seconds' } })
  // @ts-expect-error misspelt
  await sim.configure({ 'typing.webook': 'off' })
  defineScenario({ name: 'Retries', config: { 'webhook.retry': ['1s'], 'bot.delay': '$(delay)' } }, [])
  // @ts-expect-error misspelt
  defineScenario({ name: 'Retries', config: { 'webhook.retries': ['1s'] } }, [])
}

export async function transcripts(sim: Simulator): Promise<void> {
  await sim.chat({ transcript: 'nb-shop' })
  // @ts-expect-error not a shipped conversation
  await sim.chat({ transcript: 'nb-shopp' })
  defineScenario({ name: 'A shop', chat: { transcript: 'nb-shop' } }, [])
  // @ts-expect-error not a shipped conversation
  defineScenario({ name: 'A shop', chat: { transcript: 'no-shop' } }, [])
}

export async function operators(sim: Simulator): Promise<void> {
  const ada = await sim.chat()
  await ada.expectCall('start', { sender: { name: { $type: 'string' }, avatar: { $re: '^https:' } } })
  await ada.expectCall('message', { message: { $len: { $gt: 3 } }, sender: { $absent: true } })
  // @ts-expect-error no such operator
  await ada.expectCall('start', { sender: { name: { $typ: 'string' } } })
  // @ts-expect-error no such type
  await ada.expectCall('start', { sender: { name: { $type: 'text' } } })
  // @ts-expect-error true is the only argument
  await ada.expectCall('start', { sender: { $absent: false } })
  // @ts-expect-error an operator is alone
  await ada.expectCall('typing_start', { timeout: { $gt: 1, $lt: 5 } })
  expectStep('start', { sender: { name: $.type('string'), avatar: '$(avatar)' } })
}

export function faults(sim: Simulator): void {
  sim.faults.add({ on: 'api', respond: { status: 503 }, times: 1 })
  sim.faults.add({ on: { webhook: 'MESSAGE FROM USER' }, duplicate: 2, gap: '1s' })
  fault({ on: { api: ['start', 'end'] }, drop: 'after' })
  // @ts-expect-error no effect
  sim.faults.add({ on: 'api' })
  // @ts-expect-error an effect of calls
  sim.faults.add({ on: 'webhook', respond: { status: 503 } })
  // @ts-expect-error no such effect
  sim.faults.add({ on: 'webhook', dup: 2 })
  // @ts-expect-error no effect
  fault({ on: 'api', times: 1 })
}

export function agents(): void {
  const inbox: { readonly text: string; readonly request: boolean }[] = []
  createSimulator({
    agent: {
      accept: ({ chat }) => chat.id,
      says: ({ chat, text }) => chat.id + text.toUpperCase(),
      does: { transfer: ({ chat, with: { team } }) => [chat.id, team] },
      inbox: ({ chat, signal }) => (signal.aborted || chat.id === '' ? [] : inbox),
      // @ts-expect-error the whole help desk has no chat
      away: ({ chat }) => chat.id,
      back: ({ chat }) => chat?.id,
    },
  })
}

interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
  passThroughOnException(): void
  readonly props: unknown
}

/** As workers are typed. */
interface ExportedHandler<Env> {
  fetch?: (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>
  queue?: (batch: object, env: Env, context: ExecutionContext) => void | Promise<void>
}

/** As Lambda handlers are typed. */
type LambdaHandler<Event, Result> = (
  event: Event,
  context: { readonly awsRequestId: string },
  callback: (error?: Error | string | null, result?: Result) => void,
) => unknown

declare const lambda: LambdaHandler<{ readonly body?: string }, { statusCode: number }>
declare const worker: { readonly fetch: NonNullable<ExportedHandler<{ readonly KEY: string }>['fetch']> } & Pick<
  ExportedHandler<{ readonly KEY: string }>,
  'queue'
>

export function webhooks(exported: ExportedHandler<{ readonly KEY: string }>): void {
  createSimulator({ webhook: exported })
  createSimulator({ webhook: fromNode(express()) })
  createSimulator({ webhook: fromNode(createServer(), { path: '/hook' }) })
  createSimulator({ webhook: fromNode((request, response) => response.end(request.headers.host)) })
  createSimulator({ webhook: fromFastify(fastify()) })
  createSimulator({ webhook: fromFetch(new Hono()) })
  createSimulator({ webhook: fromFetch(new Hono().fetch) })
  createSimulator({ webhook: fromFetch(async request => new Response(await request.text())) })
  createSimulator({ webhook: worker })
  createSimulator({ webhook: { ...worker, env: { KEY: 'key' } } })
  createSimulator({ webhook: fromFetch(worker, { env: { KEY: 'key' }, path: '/hook' }) })
  createSimulator({
    webhook: {
      fetch(request, _env, { waitUntil }) {
        waitUntil(request.text())
        return new Response()
      },
    },
  })
  createSimulator({ webhook: fromLambda(lambda, { payload: '1.0', base64: true }) })
  createSimulator({ webhook: fromLambda(async ({ body }) => ({ statusCode: body ? 200 : 400 })) })
  // @ts-expect-error no such format
  fromLambda(lambda, { payload: '3.0' })
  // @ts-expect-error not a handler
  fromLambda({ handler: lambda })
  // @ts-expect-error not an application
  fromNode(7)
  // @ts-expect-error not a Fastify application
  fromFastify(express())
  // @ts-expect-error no response
  fromFetch(() => 'ok')
}

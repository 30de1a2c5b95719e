/** Tests the pause of a real clock, in-process and through the control API. */

import { expect, test } from 'vitest'
import { createRealClock } from '../../src/base/runtime/clock.ts'
import { startSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { createControlClient } from '../support/control-client.ts'
import { post, takenOver, world } from '../support/test-simulator.ts'

const hidden = (sim: PlatformSimulator) =>
  sim.journal.waitFor(entry => entry.kind === 'note' && entry.note === 'typing_hidden', { withinMs: 60_000 })

const notes = (sim: PlatformSimulator) =>
  sim.journal.query({ kind: 'note' }).flatMap(({ note }) => (note.startsWith('clock_') ? [note] : []))

/** A timer of another clock, which was set later, has fired. */
async function laterOnAnotherClock(): Promise<void> {
  const other = world({ clock: 'real' }).sim
  await post(other, 'typing_start', await takenOver(other), { timeout: 30 })
  await hidden(other)
}

test('a paused clock stands still: timers and timestamps wait until it goes on', async () => {
  const { sim } = world({ clock: 'real' })
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 20 })
  sim.clock.pause()
  sim.clock.pause()
  const at = sim.clock.now()
  const { time } = sim.journal.query().at(-1)!
  await laterOnAnotherClock()
  expect([sim.clock.paused, sim.clock.now(), chat.typing]).toEqual([true, at, true])
  await chat.says('Hello')
  expect(sim.journal.query().at(-1)!.time.slice(0, 23)).toBe(time.slice(0, 23))

  sim.clock.resume()
  await hidden(sim)
  expect([sim.clock.paused, chat.typing]).toEqual([false, false])
  expect(sim.clock.now()).toBeGreaterThanOrEqual(at)
  expect(notes(sim)).toEqual(['clock_paused', 'clock_resumed'])
})

test('a paused clock is advanced through retries, typing and idle chats, and goes on from there', async () => {
  const knobs = { 'webhook.retry': ['0s', '1h'], 'chat.idleTimeout': '5h' } as const
  const { sim } = world({ clock: 'real', knobs }, (_, received) => (received.length < 3 ? 500 : 200))
  const outcomes = () => sim.deliveries.map(({ outcome }) => outcome)
  sim.clock.pause()
  const at = sim.clock.now()
  await (await sim.chat()).press('handover', { async: true })
  await sim.settled()
  expect(outcomes()).toEqual(['failed', 'failed'])
  await sim.clock.advance('1h')
  expect(outcomes()).toEqual(['failed', 'failed', 'delivered'])
  await Promise.all([sim.clock.advance('2h'), sim.clock.advance('2h')])
  expect(sim.clock.now()).toBe(at + 5 * 3_600_000)
  expect(sim.journal.query({ kind: 'note' }).map(({ note }) => note)).toContain('chat_ended')
  sim.clock.resume()
  expect(sim.clock.now()).toBeGreaterThanOrEqual(at + 5 * 3_600_000)
  await expect(sim.clock.advance('1h')).rejects.toThrow('must be paused to be advanced')
})

test('timers of one moment fire in their order, also those that a paused clock was given', async () => {
  const clock = createRealClock()
  const fired: string[] = []
  clock.after(60_000, () => fired.push('first'))
  clock.pause()
  const cancelled = clock.after(60_000, () => fired.push('cancelled'))
  clock.after(60_000, () => fired.push('second'))
  cancelled.cancel()
  // The machine's time passed between the first timer and the pause.
  expect(clock.nextDue()).toBeLessThanOrEqual(clock.now() + 60_000)
  await clock.advance(120_000, async () => {})
  expect([fired, clock.nextDue()]).toEqual([['first', 'second'], null])
})

test('an advance that a pause began ends when the clock goes on', async () => {
  const clock = createRealClock()
  clock.pause()
  const at = clock.now()
  const fired: number[] = []
  for (const minutes of [1, 2]) clock.after(minutes * 60_000, () => fired.push(minutes))
  await clock.advance(600_000, async () => {
    if (fired.length === 1) clock.resume()
  })
  expect(fired).toEqual([1])
  expect(clock.now() - at).toBeLessThan(120_000)
  expect(clock.nextDue()).toBe(at + 120_000)
})

test('a reset lets the clock go on at the time of the machine', async () => {
  const { sim } = world({ clock: 'real' })
  sim.clock.pause()
  await sim.clock.advance('24h')
  const ahead = sim.clock.now()
  sim.reset()
  expect(sim.clock.paused).toBe(false)
  expect(sim.clock.now()).toBeLessThan(ahead - 3_600_000)
  await takenOver(sim)
  await laterOnAnotherClock()
})

test('a snapshot of a paused clock is restored paused, at its time; another one runs', async () => {
  const { sim } = world({ clock: 'real' })
  const chat = await takenOver(sim)
  const running = sim.snapshot()
  await post(sim, 'typing_start', chat, { timeout: 60_000 })
  sim.clock.pause()
  await sim.clock.advance('30s')
  const at = sim.clock.now()
  const paused = sim.snapshot()
  await sim.restore(running)
  expect([sim.clock.paused, chat.typing]).toEqual([false, false])
  await sim.restore(paused)
  expect([sim.clock.paused, sim.clock.now(), chat.typing]).toEqual([true, at, true])
  expect(sim.snapshot().clock).toEqual(paused.clock)
  await sim.clock.advance('30s')
  expect(chat.typing).toBe(false)
})

test('the control API pauses, advances and resumes; each workspace has its own clock', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  await ask('POST', '/workspaces', { body: { name: 'still', clock: 'virtual' } })
  await ask('POST', '/workspaces', { body: { name: 'other' } })
  const { status, body } = await ask('POST', '/clock/pause')
  expect([status, body]).toMatchObject([200, { mode: 'real', paused: true }])
  expect((await ask('POST', '/clock/pause')).body).toEqual(body)
  expect((await ask('GET', '/state')).body.clock).toEqual(body)
  const moved = (await ask('POST', '/clock/advance', { body: { by: '10m' } })).body
  expect(Date.parse(moved.now) - Date.parse(body.now)).toBe(600_000)
  expect((await ask('GET', '/workspaces/other/state')).body.clock).toMatchObject({ mode: 'real', paused: false })
  expect((await ask('POST', '/clock/resume')).body).toMatchObject({ mode: 'real', paused: false })
  expect((await ask('POST', '/clock/resume')).status).toBe(200)
  expect(notes(server)).toEqual(['clock_paused', 'clock_advanced', 'clock_resumed'])
  const refused = await ask('POST', '/workspaces/still/clock/resume')
  expect([refused.status, refused.body.error.code]).toEqual([409, 'virtual_clock'])
})

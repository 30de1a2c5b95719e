/** `POST /_sim/record`: which scenario it writes for what happened. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../src/evaluation/scenario/compile/compile.ts'
import { interpolate } from '../../src/evaluation/scenario/interpolation.ts'
import { loadScenarioText } from '../../src/evaluation/scenario/load/load.ts'
import { type Plan, stepsOf } from '../../src/evaluation/scenario/plan.ts'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { ANNA, type Recorded, startQuickRecorder } from './recorded.ts'

/** Sets when the entries of the journal came, in milliseconds, after no time: pauses and overlaps decide the steps. */
async function setTimes(sim: PlatformServer, atMs: (seq: number) => number): Promise<void> {
  const snapshot = sim.snapshot({ journal: true })
  for (const entry of snapshot.journal!.entries!)
    Object.assign(entry, { at_ms: atMs(entry.seq) }, 'duration_ms' in entry && { duration_ms: 0 })
  snapshot.journal!.atMs = atMs(snapshot.journal!.nextSeq)
  await sim.restore(snapshot)
}

/** Starts a recorder with a chat whose user asks for an agent. */
async function startPressed(options: PlatformServerOptions = {}) {
  const recorder = await startQuickRecorder(options)
  const chat = await recorder.sim.chat()
  await chat.press('handover')
  return { ...recorder, chat }
}

async function startTakenOver(options: PlatformServerOptions = {}) {
  const started = await startPressed(options)
  await started.call('start', started.chat, ANNA)
  return started
}

/** Reads the recorded file as `run` does. */
async function planOf({ yaml }: Recorded): Promise<Plan> {
  const [plan] = compile(await loadScenarioText('recorded.yaml', yaml, { cwd: '.', nodeVersion: process.version }))
  return plan!
}

/** The trial passed, and every call that is left out is noticed. */
function expectProven({ status, body }: Recorded, calls: number): void {
  expect(status).toBe(200)
  expect(body.tried).toMatchObject({ outcome: 'pass', calls, left_out: calls, noticed: calls, failures: [] })
}

describe('a handover', () => {
  it('becomes a file that a developer could have written', async () => {
    const { sim, call, record } = await startQuickRecorder()
    const chat = await sim.chat({ language: 'nb' })
    await chat.says('Hei')
    await chat.press('handover')
    await call('transcript', chat)
    await call('start', chat, { ...ANNA, supports_attachment: true })
    await chat.says('Her er den', { attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 87 }] })
    await call('typing_start', chat)
    await call('typing_stop', chat)
    await call('message/', chat, { ...ANNA, message: 'On its way!' })
    await call('end', chat)
    await setTimes(sim, seq => seq)
    const recorded = await record({ name: 'Lost parcel', reads: true })
    expectProven(recorded, 6)
    expect(recorded.yaml).toMatch(/^# yaml-language-server: .*\n# Recorded with handover-sim\./)
    expect(recorded.yaml).toContain(
      'steps:\n  - user: Hei\n\n  - press: handover\n  - expect: transcript\n\n  - agent: accept',
    )
    expect(recorded.scenario).toMatchObject({ version: 1, name: 'Lost parcel', chat: { language: 'nb' } })
    expect(recorded.steps.slice(3)).toEqual([
      { agent: 'accept' },
      { expect: { start: { sender: { name: 'Anna' }, supports_attachment: true } } },
      { user: { text: 'Her er den', attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 87 }] } },
      { agent: 'type' },
      { expect: 'typing_start' },
      { agent: { says: 'On its way!' } },
      { expect: { all: ['typing_stop', { message: { message: 'On its way!' } }] } },
      { agent: 'leave' },
      { expect: 'end' },
      { check: { status: 'bot' } },
    ])
  })

  it('a call just before the agent comes, long after the press, belongs to the agent', async () => {
    const { sim, call, record, chat } = await startPressed()
    await call('transcript', chat)
    await call('start', chat, ANNA)
    await setTimes(sim, seq => seq)
    expect((await record({ reads: true })).steps[1]).toEqual({ expect: 'transcript' })
    await setTimes(sim, seq => (seq <= 5 ? seq : seq + 60_000))
    const recorded = await record({ reads: true })
    expectProven(recorded, 2)
    expect(recorded.steps.slice(0, 3)).toEqual([{ press: 'handover' }, { agent: 'accept' }, { expect: 'transcript' }])
  })

  it('is recorded the same every time, and changes nothing in the simulator', async () => {
    const { sim, record } = await startTakenOver()
    const state = () => [sim.snapshot().chats, sim.journal.query(), sim.journal.nextSeq]
    const before = structuredClone(state())
    const [first, second] = [await record(), await record()]
    expect(first.yaml).toBe(second.yaml)
    expect(state()).toEqual(before)
    expect(first.steps.at(-1)).toEqual({ check: { status: 'agent' } })
  })

  it('holds no id, no time, no key and no link', async () => {
    const { sim, call, record, chat } = await startTakenOver({ knobs: { 'keys.handover': 'very-secret-key' } })
    await chat.says('My key is very-secret-key')
    await call('message/', chat, { ...ANNA, message: 'Keep very-secret-key for yourself' })
    const recorded = await record()
    expectProven(recorded, 2)
    expect(recorded.steps).toContainEqual({ user: 'My key is ***' })
    for (const secret of ['very-secret-key', chat.id, chat.userId, String(sim.botId), 'https://', 'Kindly'])
      expect(recorded.yaml).not.toContain(secret)
    expect(recorded.yaml).not.toMatch(/\d{4}-\d\d-\d\d|\d\d:\d\d/)
  })

  it('keeps every text of the user and of the agent, however it looks in YAML', async () => {
    const odd = [...'yes,null,12,- a,a: b,# no,{{ x }},$(chat.id),$$(x),*a,&a,!t'.split(','), ...'"\'%@`|>~']
    const spaced = [
      'line\nline',
      ' lead',
      'trail ',
      'tab\there',
      '\u202eمرحبا',
      '👩‍👩‍👧 ok',
      'a\r\nb',
      '\u2028',
      '---',
      '...\n',
    ]
    const parts = fc.constantFrom(...odd, ' ', '\n', ': ', ' #', '🙂', 'é', 'ש')
    const text = fc.oneof(
      fc.constantFrom(...odd, ...spaced),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.array(parts, { minLength: 1, maxLength: 6 }).map(some => some.join('')),
    )
    const { sim, call, record } = await startQuickRecorder()
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), async texts => {
        sim.reset()
        const chat = await sim.chat()
        await chat.press('handover')
        await call('start', chat, ANNA)
        for (const one of texts) {
          await chat.says(one)
          await call('message/', chat, { ...ANNA, message: one })
        }
        const recorded = await record({ name: 'Odd texts' })
        expectProven(recorded, texts.length + 1)
        const actions = [...stepsOf((await planOf(recorded)).steps)].map(({ action }) => action)
        const written = actions.flatMap(one => ('text' in one && one.text !== null ? [interpolate(one.text, {})] : []))
        expect(written).toEqual(texts.flatMap(one => [one, one]))
      }),
      { numRuns: 6 },
    )
  })
})

it('writes characters that nobody sees by their numbers, in texts, names and keys', async () => {
  const { sim, call, record } = await startQuickRecorder()
  // Of C1, to the left, a line separator, a tag; joiners and emoji stay as they are.
  const text = '\u009b2J \u202etxt.exe\u2028 \u{e0041} 👩\u200d👧 \u001b\r.'
  const chat = await sim.chat({ user: { firstName: text }, context: { [text]: text } })
  await chat.press('handover')
  await call('start', chat, { sender: { ...ANNA.sender, name: text } })
  await chat.says(`first\n${text}`)
  await call('message/', chat, { ...ANNA, message: text })
  const recorded = await record({ name: text })
  expect(recorded.yaml).not.toMatch(/(?!\u200d|\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(recorded.yaml).toContain('\\u202etxt.exe\\u2028 \\U000e0041 👩\u200d👧')
  expect(recorded.body.tried).toMatchObject({ outcome: 'pass', noticed: 2 })
  expect(recorded.scenario.name).toBe(text)
  expect(recorded.scenario.chat.context).toEqual({ [text]: text })
  expect(recorded.steps).toContainEqual({ user: `first\n${text}` })
})

describe('the trial', () => {
  it('passes for any calls and acts', async () => {
    const { sim, call, record } = await startQuickRecorder()
    const endpoints = ['start', 'end', 'typing_start', 'typing_stop', 'transcript', 'message/', 'message/'] as const
    const act = fc.record({
      who: fc.nat(1),
      what: fc.constantFrom('says', 'press', 'open', 'closed', ...endpoints),
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 }), fc.array(act, { maxLength: 12 }), async (count, acts) => {
        sim.reset()
        const chats = [await sim.chat(), await sim.chat()].slice(0, count)
        await chats[0]!.says('Hi')
        for (const { who, what } of acts) {
          const chat = chats[who % count]!
          if (what === 'says') await chat.says('Hello', { async: true })
          else if (what === 'press') await chat.press('handover', { async: true })
          else if (what === 'open') await call('availability', null, { availability: 'OPEN' })
          else if (what === 'closed') sim.setAvailability({ availability: 'CLOSED' })
          else await call(what, chat, what === 'message/' ? { ...ANNA, message: 'I am Anna' } : {})
        }
        const { body } = await record()
        expect({ ...body.tried, yaml: body.yaml }).toMatchObject({ outcome: 'pass', noticed: body.tried.calls })
      }),
      { numRuns: 6 },
    )
  })

  it('says why the scenario does not pass', async () => {
    const { sim, call, record } = await startQuickRecorder({ knobs: { 'start.unrequested': 'accept' } })
    const chat = await sim.chat()
    await chat.says('Hi')
    expect(await call('start', chat, ANNA)).toBe(200)
    await sim.configure({ 'start.unrequested': '409' })
    const { status, body } = await record()
    expect(status).toBe(200)
    expect(body.tried).toMatchObject({ outcome: 'fail', calls: 1, noticed: 0 })
    expect(body.tried.failures[0]).toBe('POST /api/v2/handover/start (200): the platform answered 409 in the trial')
  })
})

describe('how a chat began', () => {
  it('names a shipped conversation', async () => {
    const { sim, call, record } = await startQuickRecorder()
    const chat = await sim.chat({ transcript: 'nb-shop' })
    await chat.press('handover')
    await call('start', chat, ANNA)
    const recorded = await record()
    expectProven(recorded, 1)
    expect(recorded.scenario.chat).toEqual({ transcript: 'nb-shop' })
  })

  it.each(['$(x)', '{{ x }}', 'a: b #c', '👋 "q"', 'two\nlines', '  lead', "'"])(
    'contains its history, user, source and labels, with the text %j',
    async text => {
      const { sim, call, record } = await startQuickRecorder()
      const history = [{ user: text }, { bot: text, buttons: [{ label: text, handover: true }] }, { agent: text, text }]
      const user = { firstName: text, lastName: text }
      const chat = await sim.chat({ history, source: text, user, labels: ['vip'], context: { k: text } })
      await sim.configure({ 'messages.open': text })
      await chat.press(text)
      await call('start', chat, { sender: { name: text } })
      const recorded = await record({ name: text })
      expectProven(recorded, 1)
      const { name, conversations } = await planOf(recorded)
      expect(name).toBe(text)
      const began = conversations[0]!
      const names = { first_name: text, last_name: text }
      const written = interpolate([began.source, began.user, began.labels, began.context], {})
      expect(written).toMatchObject([text, names, ['vip'], { k: text }])
      expect(interpolate(began.history, {})).toEqual(history)
    },
  )

  it('makes a history of what was said before the range, and begins a handover in progress with its request', async () => {
    const { sim, call, record } = await startQuickRecorder()
    const chat = await sim.chat()
    await chat.says('Before')
    const after = sim.journal.nextSeq - 1
    await chat.press('handover')
    await call('start', chat, ANNA)
    const middle = sim.journal.nextSeq - 1
    await chat.says('Now')
    const whole = await record({ after })
    expectProven(whole, 1)
    expect(whole.scenario.chat.history[0]).toEqual({ user: 'Before' })
    const extended = await record({ after: middle })
    expect(extended.steps).toEqual(whole.steps)
    expect(extended.codes).toContain('began_earlier')
    expect((await record({ before: after })).steps[0]).toEqual({ user: 'Before' })
  })
})

describe('calls that only read', () => {
  it('are left out, because another intermediary may need none, unless they are asked for, or are all there is', async () => {
    const { call, record, chat } = await startPressed()
    await call('transcript', chat)
    expect((await record()).steps).toContainEqual({ expect: 'transcript' })
    await call('start', chat, ANNA)
    await call('summarize', chat)
    const { steps, codes } = await record()
    expect(JSON.stringify(steps)).not.toMatch(/transcript|summarize/)
    expect(codes).toContain('reads_left_out')
    expect(JSON.stringify((await record({ reads: true })).steps)).toMatch(/transcript/)
  })
})

it('records several chats as conversations by name, also when their turns cross', async () => {
  const { sim, call, record } = await startQuickRecorder()
  const ada = await sim.chat({ user: { firstName: 'Ada' } })
  const other = await sim.chat()
  await ada.press('handover')
  await other.press('handover')
  await call('start', other, ANNA)
  await other.says('I am the other')
  await call('transcript', ada)
  await call('start', ada, { sender: { name: 'Bo' } })
  await call('message/', other, { ...ANNA, message: 'Hello other' })
  const recorded = await record({ reads: true })
  expectProven(recorded, 4)
  expect(Object.keys(recorded.scenario.chats)).toEqual(['ada', 'user2'])
  expect(recorded.steps).toContainEqual({ expect: { transcript: {}, since: 'step1' }, chat: 'ada' })
  const alone = await record({ chat_ids: [ada.id], reads: true })
  expectProven(alone, 2)
  expect(alone.steps.every(step => Object.keys(step).length === 1)).toBe(true)
})

describe('what was set', () => {
  it('is in the head and in steps: knobs, availability, faults and a virtual clock', async () => {
    const { sim, call, record } = await startQuickRecorder({ clock: 'virtual', knobs: { 'typing.webhook': 'off' } })
    const chat = await sim.chat()
    sim.setAvailability({ availability: 'CLOSED', reason: 'OTHER' })
    await chat.press('handover')
    sim.setAvailability({ availability: 'OPEN' })
    await sim.clock.advance('10m')
    await chat.press('handover')
    const respond = { status: 503, headers: { 'retry-after': '1' } }
    sim.faults.add({ name: 'flaky', on: { api: 'start' }, respond, times: 2 })
    for (const _ of [1, 2, 3]) await call('start', chat, ANNA)
    expectProven(await record(), 3)
    sim.faults.clear('flaky')
    const recorded = await record()
    expectProven(recorded, 3)
    expect(recorded.scenario).toMatchObject({ clock: 'virtual', config: { 'typing.webhook': 'off' } })
    expect(recorded.steps).toEqual([
      { availability: { availability: 'CLOSED', reason: 'OTHER' } },
      { press: 'handover' },
      { availability: 'OPEN' },
      { wait: '10m' },
      { press: 'handover' },
      { fault: { name: 'flaky', on: { api: 'start' }, respond, times: 2 } },
      { agent: 'accept' },
      { expect: { start: { sender: { name: 'Anna' } }, times: 3 } },
      { fault: { clear: 'flaky' } },
      { check: { status: 'agent' } },
    ])
  })

  it('records a knob that changed in the middle as a comment, and its last value in the head', async () => {
    const { sim, call, record, chat } = await startPressed()
    await sim.configure({ 'start.again': '409' })
    await call('start', chat, ANNA)
    const recorded = await record()
    expect(recorded.scenario.config).toEqual({ 'start.again': '409' })
    expect(recorded.codes).toContain('setting_changed')
    expect(recorded.yaml).toContain('# start.again changed here')
  })

  it('records a user who leaves, and comes back', async () => {
    const { call, record, chat } = await startPressed()
    await call('start', chat, ANNA)
    await chat.closes()
    await chat.says('One more thing')
    await chat.deletes()
    const recorded = await record()
    expectProven(recorded, 1)
    const userSteps = recorded.steps.filter(step => 'user' in step)
    expect(userSteps).toEqual([{ user: { does: 'close' } }, { user: 'One more thing' }, { user: { does: 'delete' } }])
    expect(recorded.steps.at(-1)).toEqual({ check: { status: 'bot' } })
  })

  it('sets a fault for the first chat to which it applied', async () => {
    const { sim, call, record } = await startQuickRecorder()
    const chats = [await sim.chat(), await sim.chat()]
    sim.faults.add({ name: 'slow', on: { api: 'start' }, latency: '5ms' })
    for (const chat of chats) await chat.press('handover')
    await call('start', chats[1]!, ANNA)
    const recorded = await record()
    expectProven(recorded, 1)
    expect(recorded.steps[0]).toMatchObject({ fault: { name: 'slow' }, chat: 'user2' })
  })
})

describe('events', () => {
  it('records manual events as steps, and events that were sent again as comments', async () => {
    const { sim, record, chat } = await startTakenOver()
    const post = (path: string, body: object) =>
      fetch(`${sim.url}/_sim${path}`, { method: 'POST', body: JSON.stringify(body) })
    await post('/trigger', { event: 'MESSAGE FROM USER', body: { message: 'By hand' }, sign: 'tampered' })
    await post('/trigger', { event: 'SOMETHING NEW', chat_id: chat.id, body: { about: chat.id, a: 1 } })
    await post(`/deliveries/${sim.deliveries[0]!.delivery_id}/resend`, {})
    const recorded = await record()
    expectProven(recorded, 1)
    expect(recorded.steps).toEqual([
      { press: 'handover' },
      { agent: 'accept' },
      { expect: { start: { sender: { name: 'Anna' } } } },
      { deliver: { event: 'MESSAGE FROM USER', body: { message: 'By hand' }, sign: 'tampered' } },
      { deliver: { event: 'SOMETHING NEW', body: { about: '$(chat.id)', a: 1 } } },
      { check: { status: 'agent' } },
    ])
    expect(recorded.codes).toContain('resend_left_out')
  })

  it('a refusal of the webhook is expected, with a comment; one without an answer is not', async () => {
    const { sim, record, answerWith } = await startQuickRecorder()
    const chat = await sim.chat()
    answerWith(500)
    await chat.press('handover')
    const refused = await record()
    expect(refused.steps[0]).toEqual({ press: { button: 'handover', ack: 500 } })
    expect(refused.yaml).toContain('# the webhook answered 500')
    await sim.configure({ 'webhook.url': 'http://127.0.0.1:9/' })
    sim.reset()
    await (await sim.chat()).press('handover')
    const unreached = await record()
    expect(unreached.steps[0]).toEqual({ press: 'handover' })
    expect(unreached.codes).toContain('not_reached')
    expect(unreached.body.tried.outcome).toBe('pass')
  })

  it('without any call, the scenario says that none comes', async () => {
    const { sim, record } = await startQuickRecorder()
    const chat = await sim.chat()
    await chat.says('Just the bot')
    const recorded = await record()
    expectProven(recorded, 0)
    expect(recorded.steps).toEqual([{ user: 'Just the bot' }, { none: { any: {}, for: '500ms' } }])
  })
})

describe('calls', () => {
  it('are comments when the platform refused them', async () => {
    const { call, record, chat } = await startPressed()
    expect(await call('start', chat, ANNA, 'wrong')).toBe(401)
    expect(await call('strat', chat, ANNA)).toBe(404)
    await call('start', chat, ANNA)
    const recorded = await record()
    expectProven(recorded, 1)
    expect(recorded.codes.filter(code => code === 'call_refused')).toHaveLength(2)
    expect(recorded.yaml).toContain('# POST /api/v2/handover/start (401): refused')
    expect(recorded.yaml).toContain('# POST /api/v2/handover/strat (404): refused')
  })

  it('without an agent are recorded as the intermediary’s own', async () => {
    const { call, record, chat } = await startPressed()
    await call('message/', chat, { message: 'You are number 2', sender: { name: 'Queue' } })
    await call('availability', null, { availability: 'CLOSED', reason: 'AGENT_AVAILABILITY' })
    const recorded = await record()
    expectProven(recorded, 2)
    expect(recorded.steps).toEqual([
      { press: 'handover' },
      { expect: { message: { message: 'You are number 2', sender: { name: 'Queue' } } } },
      { agent: 'away' },
      { expect: { availability: { availability: 'CLOSED', reason: 'AGENT_AVAILABILITY' } } },
      { check: { status: 'pending' } },
    ])
    expect(recorded.codes).toContain('call_by_itself')
  })
})

describe('refuses', () => {
  const expectRefused = ({ status, body }: Recorded, expected: readonly [number, string], message: RegExp) => {
    expect([status, body.error.code]).toEqual(expected)
    expect(body.error.message).toMatch(message)
  }

  it('a recording without acts, of an unknown chat, and with an unknown field', async () => {
    const { sim, record } = await startQuickRecorder()
    expectRefused(await record(), [409, 'nothing_to_record'], /./)
    const chat = await sim.chat()
    const range = { chat_ids: [chat.id], after: 0, before: 9 }
    expectRefused(await record(range), [409, 'nothing_to_record'], /before entry 9/)
    expectRefused(await record({ chat_ids: ['no-such'] }), [404, 'chat_not_found'], /no-such/)
    expectRefused(await record({ chats: [] }), [422, 'invalid_body'], /chats/)
  })

  it('chats whose entries the journal has dropped', async () => {
    const { sim, record, chat } = await startPressed({ journalLimit: 20 })
    for (let index = 0; index < 10; index++) await chat.says(`Message ${index}`)
    expectRefused(await record(), [409, 'journal_evicted'], new RegExp(`begins with entry ${sim.journal.firstSeq}`))
    const fresh = await sim.chat()
    await fresh.says('New')
    expectProven(await record({ chat_ids: [fresh.id] }), 0)
  })

  it('more steps or more text than a recording may have, with the way to choose less', async () => {
    const { sim, record } = await startQuickRecorder({ webhook: {} })
    const chat = await sim.chat()
    const expectTooLong = async (request: object, message: RegExp) =>
      expectRefused(await record(request), [422, 'too_long'], message)
    for (let index = 0; index <= 200; index++) await chat.says('x')
    await expectTooLong({}, /./)
    const after = sim.journal.nextSeq - 1
    for (let count = 0; count < 4; count++) await chat.says('Hello "$(x)": - a\n'.repeat(6_000))
    await expectTooLong({ after }, /have \d+ characters, and a recording has at most 400000: choose fewer chats/)
    // A part of them is recorded.
    expect((await record({ after: sim.journal.query({ kind: 'user' }).at(-3)!.seq })).status).toBe(200)

    const withHistory = await sim.chat({ history: [{ user: 'x'.repeat(410_000) }] })
    await withHistory.press('handover')
    await expectTooLong({ chat_ids: [withHistory.id] }, /^The messages before the range have 410000/)
    const described = await sim.chat({ context: { order: 'x'.repeat(1_700_000) } })
    await described.press('handover')
    await expectTooLong({ chat_ids: [described.id] }, /^The scenario has 17\d+ characters, and .* at most 1600000/)
  })
})

it('a workspace is recorded by itself', async () => {
  const { sim, record } = await startQuickRecorder()
  const workspace = await sim.workspace({ name: 'shop' })
  const chat = await workspace.chat()
  await chat.says('In the shop')
  expect((await record({}, '/workspaces/shop/record')).steps[0]).toEqual({ user: 'In the shop' })
  expect((await record()).status).toBe(409)
})

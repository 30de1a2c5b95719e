/** `expectCall` and `expectNone`: claims, windows and bounds are those of scenarios, and so are the words. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ANNA, failureOf, flat, requestHandover, shouting, simulatorWith } from './desk.ts'

describe('expectCall', () => {
  it('resolves with the call, its answer and its place in the journal', async () => {
    const { sim, ada } = await requestHandover(shouting)
    const start = await ada.expectCall('start', { supports_attachment: true }, { within: '1s' })
    expect(start).toMatchObject({
      body: { bot_id: sim.botId, chat_id: ada.id, sender: ANNA },
      response: { event: 'TAKEOVER STARTED', chat_id: ada.id },
      ...{ call: 'start', chatId: ada.id, status: 200, method: 'POST', path: '/api/v2/handover/start' },
      alias: 'handover',
    })
    expect(sim.journal.find(start.seq)).toBe(start.entry)
  })

  it.each(['Anna', '$(name)', '$((a\\$( )'])('waits for a later call, with %j as plain text', async name => {
    const { call, ada } = await requestHandover()
    const sender = { ...ANNA, name }
    const waiting = ada.expectCall('start', { sender })
    await call('start', { chat_id: ada.id, sender })
    expect((await waiting).body.sender).toEqual(sender)
  })

  it('claims each call once, and the next claimed call is a later one, unless both are expected at once', async () => {
    const { ada } = await requestHandover(shouting)
    await ada.says('one')
    await ada.says('two')
    await ada.expectCall('message', { message: 'TWO' })
    const error = await failureOf(ada.expectCall('message', { message: 'ONE' }, { within: '10ms' }))
    expect(error.failure.nearest[0]?.codes).toEqual(['earlier'])
    expect(flat(error)).toContain('expect them side by side: await Promise.all([ … ])')
    await ada.says('three')
    await ada.says('four')
    await Promise.all(['FOUR', 'THREE'].map(message => ada.expectCall('message', { message })))
  })

  it('continues after a matcher that threw', async () => {
    const { ada } = await requestHandover(shouting)
    const wrong = { asymmetricMatch: (sender: { nam: string[] }) => sender.nam.length > 0 }
    const { message } = await failureOf(ada.expectCall('start', { sender: wrong as never }, { within: '10ms' }))
    expect(message).toContain('the matcher threw: "Cannot read properties of undefined')
    await ada.says('one')
    await ada.expectCall('message', { message: 'ONE' })
  })

  it("considers calls after the user's first action since the last expectation, or after `since`", async () => {
    const { sim } = simulatorWith(shouting)
    const ada = await sim.chat()
    const pressed = await ada.press('handover')
    await ada.expectNone('end', { for: '0s' })
    await ada.says('one')
    const { failure } = await failureOf(ada.expectCall('start', {}, { within: '10ms' }))
    expect(failure.nearest[0]?.codes[0]).toBe('before')
    expect((await ada.expectCall('start', {}, { since: pressed })).call).toBe('start')
    const { seq } = await ada.expectCall('message', { message: 'ONE' })
    const again = await failureOf(ada.expectCall('message', {}, { since: 'beginning', within: '10ms' }))
    expect(again.failure.nearest[0]).toMatchObject({ seq, codes: ['claimed'] })
  })

  it('resolves with `times` calls in order', async () => {
    const { sim, ada } = await requestHandover(shouting)
    for (const text of ['a', 'b', 'c']) await ada.says(text)
    const calls = await ada.expectCall('message', undefined, { times: { min: 2, max: 3 } })
    expect(calls.map(({ body }) => body.message)).toEqual(['A', 'B'])
    await ada.expectCall('start', {}, { since: 'beginning' })
    await sim.assertClean()
  })

  it('does not claim the call of another chat, and names that chat', async () => {
    const { sim } = simulatorWith((event, call) => shouting({ ...event, chat: { id: first } }, call))
    const [ada, bo] = [await sim.chat({ user: { firstName: 'Ada' } }), await sim.chat({ user: { firstName: 'Bo' } })]
    const first = ada.id
    await bo.press('handover')
    const { message } = await failureOf(bo.expectCall('start', {}, { within: '10ms' }))
    expect(message).toContain('chat_id belongs to chat "Ada": cross-talk?')
  })

  it('reports the differences as a run does, with a timeline and without colours', async () => {
    const { call, ada } = await requestHandover()
    await call('start', { chat_id: ada.id, sender: { name: 'I&#39;m Anna' } })
    const error = await failureOf(ada.expectCall('start', { sender: { name: "I'm Anna" } }, { within: '20ms' }))
    expect(flat(error)).toMatch(/^x step \d+: no call of start matches; nearest: #\d+ start .* expected "I'm Anna"/)
    expect(error.message).toMatch(/sender\.name\s+- "I'm Anna"\s+\+ "I&#39;m Anna"\s+only HTML escaping differs/)
    expect(error.message).toMatch(/REQUESTING TAKEOVER -+>\s+200/)
    expect(error.message).toMatch(/^x \+.*POST start/m)
    expect(error.message).not.toContain(String.fromCharCode(27))
    expect(error.failure).toMatchObject({ kind: 'expect', rules: ['E4'] })
    expect(error.stack).toMatch(/expect-call\.test\.ts/)
    expect(error.stack).not.toMatch(/at .*src\/testing/)
  })

  it('accepts patterns, operators and asymmetric matchers, and shows them', async () => {
    const { ada } = await requestHandover(shouting)
    await ada.says('hei')
    await ada.expectCall('start', { sender: expect.objectContaining({ name: expect.any(String) }) })
    await ada.expectCall('message', { message: /^HEI$/, sender: { avatar: { $re: '^https:' } } })
    const wrong = { message: expect.stringContaining('nei'), bot_id: expect.any(String) }
    const { message } = await failureOf(ada.expectCall('message', wrong, { within: '5ms' }))
    expect(message).toContain('bot_id: Any<String>')
  })

  it('does not claim a call with a wrong key', async () => {
    const { call, ada } = await requestHandover()
    await call('start', { chat_id: ada.id }, { authorization: 'Bearer unknown-key' })
    const { message } = await failureOf(ada.expectCall('start', {}, { within: '10ms' }))
    expect(message).toContain('bad key: the platform does not know it')
  })

  it('explains a missing call by an event that was not due', async () => {
    const { sim, ada } = await requestHandover(shouting)
    await ada.expectCall('start')
    sim.setAvailability({ availability: 'CLOSED' })
    const bo = await sim.chat()
    await bo.press('handover')
    const error = await failureOf(bo.expectCall('start', {}, { within: '10ms' }))
    expect(flat(error)).toContain('caused no webhook event: is the handover closed?')
  })

  it('accepts every endpoint of a chat', async () => {
    const { sim, call } = simulatorWith()
    const ada = await sim.chat()
    await ada.says('My parcel has not arrived.')
    await ada.says('It was sent a week ago.')
    await ada.press('handover')
    const body = { chat_id: ada.id, sender: ANNA, message: 'Hi', timeout: 5000 }
    const calls = ['start', 'transcript', 'summarize', 'typing_start', 'typing_stop', 'message', 'end'] as const
    for (const name of calls) await call(name, body)
    const headers = { authorization: `Bearer ${sim.botApiKey}` }
    await sim.fetch(`${sim.baseUrl}/api/v1/chats/${ada.id}`, { headers })
    const seen = []
    for (const name of [...calls, 'chat'] as const) seen.push((await ada.expectCall(name)).response)
    expect(seen).toMatchObject([
      { event: 'TAKEOVER STARTED' },
      { chat: { id: ada.id } },
      { event: 'SUMMARIZED' },
      {},
      {},
      { event: 'MESSAGE SENT TO USER' },
      { event: 'TAKEOVER ENDED' },
      { chat: { id: ada.id } },
    ])
    await sim.assertClean({ allow: ['unknown-fields'] })
  })

  it('expects calls of the bot of the chat', async () => {
    const { sim, call } = simulatorWith(undefined, { knobs: { 'keys.more': ['second-key:2042'] } })
    const ada = await sim.chat({ botId: 2042 })
    await call('start', { bot_id: 2042, chat_id: ada.id, sender: ANNA }, { authorization: 'Bearer second-key' })
    expect((await ada.expectCall('start')).body.bot_id).toBe(2042)
  })

  it('uses colours with FORCE_COLOR', async () => {
    vi.stubEnv('FORCE_COLOR', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const ada = await simulatorWith().sim.chat()
    const { message } = await failureOf(ada.expectCall('start', {}, { within: '0s' }))
    expect(message).toContain(`${String.fromCharCode(27)}[31mx step 1: start was not called within`)
  })

  it('works with fake timers', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { ada } = await requestHandover(shouting)
    await ada.expectCall('start')
    await failureOf(ada.expectCall('end', {}, { within: '5ms' }))
  })

  it('expects availability calls of the bot', async () => {
    const { sim, call } = simulatorWith()
    await call('availability', { availability: 'CLOSED', reason: 'AGENT_AVAILABILITY' })
    const { body, response } = await sim.expectCall('availability', { availability: 'CLOSED' })
    expect([body.reason, response.bot_id]).toEqual(['AGENT_AVAILABILITY', String(sim.botId)])
    await sim.expectNone('availability', { for: '0s' })
    await expect(sim.expectCall('start' as 'availability')).rejects.toThrow(/start is about a chat/)
  })

  it('a virtual clock moves for an event that is due later', async () => {
    let tries = 0
    const busyAtFirst: typeof shouting = async (event, call) =>
      ++tries === 1 ? (new Response('busy', { status: 503 }) as never) : shouting(event, call)
    const { sim } = simulatorWith(busyAtFirst, { knobs: { 'webhook.retry': ['10m'] } })
    const ada = await sim.chat()
    expect((await ada.press('handover')).ack?.status).toBe(503)
    const before = sim.clock.now()
    await ada.expectCall('start')
    expect(sim.clock.now() - before).toBe(600_000)
  })
})

describe('expectNone', () => {
  it('fails as soon as a call arrives', async () => {
    const { call, ada } = await requestHandover()
    const watching = failureOf(ada.expectNone('start', { sender: { name: 'Anna' } }, { for: '10s' }))
    await call('start', { chat_id: ada.id, sender: ANNA })
    const expected = 'none start { sender: { name: "Anna" } } for 10s'
    expect((await watching).failure).toMatchObject({ kind: 'none', expected })
  })

  it('considers earlier calls of the same turn, but no claimed calls and no other bodies', async () => {
    const { ada } = await requestHandover(shouting)
    await ada.says('hei')
    await ada.expectNone('message', { message: 'NEI' }, { for: '0s' })
    const { failure } = await failureOf(ada.expectNone('message', { for: '0s' }))
    expect(failure).toMatchObject({ code: 'unwanted_call', details: { call: { endpoint: 'message' } } })
    await ada.says('hopp')
    await ada.expectCall('message', { message: 'HOPP' })
    await ada.expectNone('message', { message: 'HOPP' }, { for: '0s' })
  })
})

import { expect, test } from 'vitest'
import { startTestServer } from '../../support/test-server.ts'

test('a virtual clock advances, says when its next timer fires, and ends at its bound; a real one does not', async () => {
  const { server, control } = await startTestServer({ clock: 'virtual', knobs: { 'chat.idleTimeout': '30m' } })
  const advance = (by: string) => control('POST', '/clock/advance', { body: { by } })
  const now = '2024-01-01T09:10:00.000000Z'
  expect((await advance('10m')).body).toEqual({ mode: 'virtual', paused: true, now, next_due: null })
  expect(server.journal.query()).toMatchObject([{ note: 'clock_advanced', by: '10m', to: now }])
  await control('POST', '/chats')
  const clock = async () => (await control('GET', '/state')).body.clock
  expect((await clock()).next_due).toBe('2024-01-01T09:40:00.000000Z')
  await advance('30m')
  expect(await clock()).toMatchObject({ now: '2024-01-01T09:40:00.000000Z', next_due: null })

  expect((await advance('2400000000h')).body.error.issues[0]).toMatchObject({ field: 'by' })
  expect((await advance('2000000h')).status).toBe(200)
  expect((await advance('2000000h')).status).toBe(422)
  expect((await clock()).now).toMatch(/^2252-02-28T17:40/)

  const real = await startTestServer()
  const refused = await real.control('POST', '/clock/advance', { body: { by: '10m' } })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'real_clock'])
})

test('reset removes everything, and the same actions then have the same results', async () => {
  const { control } = await startTestServer({ clock: 'virtual' })
  const first = (await control('POST', '/chats')).body
  await control('POST', `/chats/${first.chat_id}/press`, { body: { button: 'handover' } })
  expect((await control('POST', '/reset')).body).toEqual({ reset: true })
  expect((await control('GET', '/journal')).body).toEqual({ entries: [], first_seq: 1, next_seq: 1 })
  expect((await control('GET', '/chats')).body).toEqual({ chats: [] })
  expect((await control('POST', '/chats')).body).toEqual(first)
})

test('an action that is being translated during a reset is not journaled after it', async () => {
  const translated = Promise.withResolvers<string>()
  const translating = Promise.withResolvers<void>()
  const translate = () => {
    translating.resolve()
    return translated.promise
  }
  const { server, control, call } = await startTestServer({ translate })
  const chat = await server.chat({ language: 'nb' })
  await call('start', { chat_id: chat.id, sender: { language_codes: ['en'] } })
  const saying = control('POST', `/chats/${chat.id}/messages`, { body: { text: 'Hei' } })
  await translating.promise
  await control('POST', '/reset')
  translated.resolve('Hi')
  expect(await saying).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
  expect((await control('GET', '/journal')).body.entries).toEqual([])
})

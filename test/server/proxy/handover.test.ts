/** Plays a handover between a second simulator as the real platform and the example intermediary, through a proxy. */
import { expect, it } from 'vitest'
import { readJournal } from '../../../src/evaluation/evaluator/journal-file.ts'
import { playHandover } from './setup.ts'

it('records a handover in both directions as a simulator records its own', async () => {
  const { platform, proxy, desk } = await playHandover()
  const chat = await platform.chat()
  await chat.press('handover')
  await proxy.waitFor('delivery')
  await desk(`${chat.id}/accept`)
  await proxy.waitFor('api')
  await desk(`${chat.id}/messages`, { text: 'Hello from Anna' })
  await proxy.waitFor('api', 2)
  await chat.says('Thank you')
  await proxy.waitFor('delivery', 2)
  await desk(`${chat.id}/close`)
  await proxy.waitFor('api', 3)

  const entries = await proxy.entries()
  const seqOf = (kind: string, nth = 0) => entries.filter(one => one.kind === kind)[nth]?.seq
  const shown = entries.map(one => {
    const what = one.kind === 'api' ? one.endpoint : one.kind === 'note' ? one.note : 'event' in one ? one.event : ''
    return `${one.kind} ${what}`.trim()
  })
  expect(shown.filter(text => !text.includes('proxy_'))).toEqual([
    'note chat_created',
    'user',
    'event REQUESTING TAKEOVER',
    'delivery REQUESTING TAKEOVER',
    'api start',
    'note taken_over',
    'api message',
    'user',
    'event MESSAGE FROM USER',
    'delivery MESSAGE FROM USER',
    'api end',
    'note handed_back',
  ])
  expect(entries.filter(one => one.chat_id === undefined).map(one => one.kind)).toEqual(['note'])
  const [first] = entries.filter(one => one.kind === 'event')
  expect(first).toMatchObject({ observed: true, cause: seqOf('user'), payload: { chat: { id: chat.id } } })
  const [delivery] = entries.filter(one => one.kind === 'delivery')
  expect(delivery).toMatchObject({
    ...{ observed: true, cause: seqOf('event'), delivery_id: first?.delivery_id, outcome: 'delivered', status: 200 },
    request: { headers: { 'kindly-hmac': '*** (valid)' } },
  })
  const calls = entries.filter(one => one.kind === 'api')
  expect(calls.map(({ observed, auth, follows, status }) => ({ observed, auth, follows, status }))).toEqual([
    { observed: true, auth: 'valid', follows: seqOf('event'), status: 200 },
    { observed: true, auth: 'valid', follows: seqOf('event'), status: 200 },
    { observed: true, auth: 'valid', follows: seqOf('event', 1), status: 200 },
  ])

  // The chat as the page shows it, the page itself, and the recorder.
  const { body: view } = await proxy.client('GET', `/chats/${chat.id}`)
  expect(view).toMatchObject({ status: 'bot', language: 'en', user_id: chat.userId })
  expect(view.messages.map(({ from, text }: { from: string; text: string }) => `${from}: ${text}`)).toEqual([
    'agent: Hello from Anna',
    'user: Thank you',
  ])
  const page = await fetch(`${proxy.url}/`, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<title>handover-sim')
  const recorded = await proxy.client('POST', '/record', { body: {} })
  expect(recorded.body.tried).toMatchObject({ outcome: 'pass', calls: 3, noticed: 3 })
  expect(recorded.body.yaml).toContain('- user: Thank you')

  // The file has the same entries, and the terminal shows them.
  const saved = readJournal('journal', proxy.file())
  expect(saved.journal).toEqual(entries)
  await proxy.stop()
  expect(proxy.io.stderr.text).toMatch(/intermediary -> platform +POST start as Anna/)
  expect(proxy.io.stderr.text).toMatch(/platform -> webhook +MESSAGE FROM USER "Thank you"/)
})

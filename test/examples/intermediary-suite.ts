/** Defines the tests that every reference intermediary must pass, in any language. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { type ExampleSetup, setUpExample } from './example-setup.ts'
import { type Example, emptyFolder } from './program.ts'

const lastOf = (chat: ChatHandle) => {
  const { name, text, original } = chat.transcript.at(-1)!
  return original === undefined ? `${name}: ${text}` : `${name}: ${text} (${original})`
}

/** Creates a chat, requests a handover, and accepts it. */
async function takenOver({ sim, agent, call }: ExampleSetup): Promise<ChatHandle> {
  const chat = await sim.chat({ transcript: 'nb-shop' })
  expect((await chat.press('handover')).ack).toMatchObject({ status: 200 })
  expect(chat.status).toBe('pending')
  await agent.does('accept', chat.id)
  await call('start')
  expect(chat.status).toBe('agent')
  return chat
}

export function describeIntermediary(example: Example, available: boolean): void {
  const test = it.skipIf(!available)

  test('request, queue and accept cause one start with languages and attachments', async () => {
    const { sim, agent, call } = await setUpExample(example)
    const chat = await sim.chat({ transcript: 'nb-shop' })
    await chat.press('handover')
    expect(await agent.inbox(chat.id)).toEqual([{ request: true }])
    await agent.does('announce', chat.id)
    expect((await call('message')).request.body).toMatchObject({ chat_id: chat.id, sender: { name: 'Support desk' } })
    expect(lastOf(chat)).toBe('Support desk: You are number 1 in the queue.')
    expect(chat.status).toBe('pending')
    await agent.does('accept', chat.id)
    expect((await call('start')).request.body).toMatchObject({
      bot_id: sim.botId,
      chat_id: chat.id,
      supports_attachment: true,
      sender: { name: 'Anna', language_codes: ['en'] },
    })
    expect(lastOf(chat)).toBe('Nora: Anna har blitt med i chatten.')
  })

  test('messages of the user reach the desk, translated and with files', async () => {
    const setup = await setUpExample(example)
    const chat = await takenOver(setup)
    const file = { name: 'kvittering æ.pdf', type: 'application/pdf', size_kb: 87 }
    expect((await chat.says('Her er den 🧾', { attach: [file] })).ack).toMatchObject({ status: 200 })
    const received = (await setup.agent.inbox(chat.id)).at(-1)!
    expect(received).toMatchObject({
      text: '[nb>en] Her er den 🧾',
      attachments: [{ name: file.name, type: file.type }],
    })
    const fetched = await fetch(received.attachments![0]!.url)
    expect(fetched.headers.get('content-type')).toBe('application/pdf')
    expect((await fetched.arrayBuffer()).byteLength).toBe(87 * 1024)
  })

  test('typing, text, transfer and end reach the user', async () => {
    const setup = await setUpExample(example)
    const { agent, call } = setup
    const chat = await takenOver(setup)
    await agent.does('type', chat.id)
    await call('typing_start')
    expect(chat.typing).toBe(true)
    await agent.does('stop', chat.id)
    await call('typing_stop')
    expect(chat.typing).toBe(false)
    await agent.does('type', chat.id)
    await agent.does('says', chat.id, { text: 'On its way "today" \\ 📦' })
    await call('typing_start')
    await call('typing_stop')
    await call('message')
    expect(chat.typing).toBe(false)
    expect(lastOf(chat)).toBe('Anna: [en>nb] On its way "today" \\ 📦 (On its way "today" \\ 📦)')
    await agent.does('transfer', chat.id, { team: 'Billing' })
    await call('message')
    expect(chat.transcript.at(-1)!.text).toContain('You are being transferred to Billing.')
    await agent.does('says', chat.id, { text: 'Hello' })
    await call('message')
    expect(chat.transcript.at(-1)!.name).toBe('Billing agent')
    await agent.does('leave', chat.id)
    await call('end')
    expect(chat.status).toBe('bot')
    expect(lastOf(chat)).toBe('Nora: Billing agent har forlatt chatten.')
  })

  test('a second handover of the same chat works, also after closed hours', async () => {
    const setup = await setUpExample(example)
    const { agent, call } = setup
    const chat = await takenOver(setup)
    await agent.does('leave', chat.id)
    await call('end')

    await agent.does('away', chat.id)
    await call('availability')
    expect(await chat.press('handover')).toMatchObject({ deliveryId: null, ack: null })
    expect(lastOf(chat)).toBe('Nora: Teamet vårt er ikke tilgjengelig akkurat nå. Prøv igjen senere.')
    await agent.does('back', chat.id)
    await call('availability')

    expect((await chat.press('handover')).ack).toMatchObject({ status: 200 })
    expect((await agent.inbox(chat.id)).filter(item => item.request)).toHaveLength(2)
    await agent.does('accept', chat.id)
    await call('start')
    await agent.does('says', chat.id, { text: 'Back again' })
    await call('message')
    await agent.does('leave', chat.id)
    await call('end')
    expect(chat.status).toBe('bot')
  })

  test('a repeated request opens no second conversation', async () => {
    const setup = await setUpExample(example)
    const chat = await takenOver(setup)
    expect(await redeliver(setup)).toBe(200)
    expect(await setup.agent.desk()).toMatchObject([{ id: chat.id, status: 'open' }])
    expect((await setup.agent.inbox(chat.id)).filter(item => item.request)).toHaveLength(1)
    await setup.agent.does('leave', chat.id)
    await setup.call('end')
    expect(setup.sim.journal.query({ kind: 'api' }).map(entry => entry.endpoint)).toEqual(['start', 'end'])
  })

  test('a wrong or missing signature is refused and changes nothing', async () => {
    const setup = await setUpExample(example)
    const chat = await setup.sim.chat()
    await chat.press('handover')
    await setup.sim.settled()
    const wrong: [change: (body: string) => string, signature: (right: string) => string | null][] = [
      [body => body.replaceAll(chat.id, 'somebody-else'), right => right],
      [body => body, right => right.slice(0, -1)],
      [body => body, right => right.toLowerCase()],
      [body => body, () => null],
    ]
    for (const [change, signature] of wrong) expect(await redeliver(setup, change, signature)).toBe(401)
    expect(await setup.agent.desk()).toMatchObject([{ id: chat.id, status: 'pending' }])
  })

  test('after a kill and a restart, the chat can be ended', async () => {
    const setup = await setUpExample(example, { STATE_FILE: join(emptyFolder(), 'state.json') })
    const chat = await takenOver(setup)
    await chat.says('Er du der?')
    expect(await setup.program.end('SIGKILL')).toBe('SIGKILL')
    await setup.relaunch()
    expect((await setup.agent.inbox(chat.id)).at(-1)!.text).toBe('[nb>en] Er du der?')
    await setup.agent.does('leave', chat.id)
    await setup.call('end')
    expect(chat.status).toBe('bot')
    expect(await setup.program.end('SIGTERM')).toBe(0)
  })
}

/** Sends the first delivery again, optionally changed, and returns the status of the answer. */
async function redeliver(
  { sim }: ExampleSetup,
  change = (body: string) => body,
  signed: (right: string) => string | null = right => right,
): Promise<number> {
  const { url, request } = sim.deliveries[0]!
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) => {
      const sent = name === 'Kindly-HMAC' ? signed(value) : value
      return sent === null ? [] : [[name, sent]]
    }),
  )
  const response = await fetch(url!, { method: 'POST', headers, body: change(request.body) })
  await response.arrayBuffer()
  return response.status
}

/** Plants secrets and names in traffic, and looks for them in everything that a proxy writes and shows. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isMap } from '../../../src/base/objects.ts'
import type { Entry, EntryOf } from '../../../src/platform/journal/entry.ts'
import { sign } from '../../../src/platform/signature/index.ts'
import { createAnonymiser } from '../../../src/server/proxy/anonymise.ts'
import { readEvents } from '../../support/event-stream.ts'
import { unicodeText } from '../../support/unicode-text.ts'
import { bodyOf, call, deliver, KEY, PATH, type StartedProxy, serverWith, startProxy } from './setup.ts'

/** Secrets of the two programs: never shown. */
const SECRETS = {
  key: KEY,
  botKey: 'bot/key-9f2c71==',
  cookie: 'session-3c9a1f',
  setCookie: 'answer-cookie-77a/b',
  answerKey: 'key-of-an-answer/3',
  apiKeyHeader: 'header-api-key-51',
  tenant: 'tenant-of-acme-5521',
  requestId: 'req-8812-private',
  queryToken: 'query-token-66b1',
  hookSecret: 'hook-query-secret-1',
  hostOfTunnel: 'acme-7731.tunnel.example',
  clientAddress: '203.0.113.77',
  deliveryPath: PATH.slice(10),
} as const

/** Personal values: gone with --anonymise. */
const PERSONAL = {
  userName: 'Solveig Nordahl',
  agentName: 'Torbjørn Ås',
  mail: 'solveig.nordahl@example.no',
  phone: '+47 912 34 567',
  street: 'Storgata 17b',
  chatId: 'a3c1f0de-1111-4222-8333-4444deadbeef',
  userId: '5f3a9c0de41b77aa01c2',
  time: '2025-03-04T05:06:07.123456Z',
  file: 'legeerklaering-nordahl.pdf',
  fileUrl: 'https://files.acme-cdn.example/u/8831/nordahl.pdf?sig=zz91',
  avatar: 'https://desk.acme.example/torbjorn.png',
  arabic: 'سارة الهاشمي',
  chinese: '王小明住在上海',
  emoji: 'Gratulerer 🎉👩🏽‍⚕️ med dagen',
  order: 'ORD-2025-00917',
  customer: '734912',
  label: 'vip-nordahl',
  field: 'nordahl_mail',
  messageId: '64b7c0ffee00112233445566',
} as const

const { userName, mail, phone, street, arabic, chinese, emoji, order } = PERSONAL
const LINKS = { self: `https://chat.acme.example/api/v1/chats/${PERSONAL.chatId}` }
const event = JSON.stringify({
  event: 'MESSAGE FROM USER',
  bot: { id: 1042, name: 'Nora' },
  chat: { _links: LINKS, id: PERSONAL.chatId, language: 'nb', source: 'web' },
  user: { id: PERSONAL.userId },
  message: `Jeg er ${userName}, ${mail}, ${phone}, ${street}. ${arabic} ${chinese} ${emoji} ${order}`,
  attachments: [{ name: PERSONAL.file, url: PERSONAL.fileUrl, type: 'application/pdf', size_kb: 12 }],
})

const message = { id: PERSONAL.messageId, created: PERSONAL.time, from_bot: false, buttons: [] }
const transcript = (echo: string) => ({
  chat: {
    active: true,
    bot_id: 1042,
    id: PERSONAL.chatId,
    full_name: userName,
    created: PERSONAL.time,
    context: {
      [PERSONAL.field]: mail,
      is_rich: false,
      number: Number(PERSONAL.customer),
      address: { street },
      event: userName,
    },
    // Names of JavaScript are names of fields.
    constructor: 'a',
    toString: 'b',
    ['__proto__']: 'c',
    labels: [PERSONAL.label],
    messages: [{ ...message, name: userName, message: emoji }],
  },
  echo,
})

/** Sends traffic with everything that is planted through a proxy. */
async function playPlanted(flags: readonly string[]) {
  const platform = await serverWith(async (request, response) => {
    await bodyOf(request)
    const { authorization = '' } = request.headers
    const own = { 'set-cookie': `s=${SECRETS.setCookie}; HttpOnly`, 'x-api-key': SECRETS.answerKey }
    const headers = { 'content-type': 'application/json', ...own, date: PERSONAL.time }
    const echo = `your key ${authorization} ${SECRETS.setCookie} ${SECRETS.answerKey} HttpOnly`
    // As PHP writes it.
    response.writeHead(200, headers).end(JSON.stringify(transcript(echo)).replaceAll('/', '\\/'))
  })
  const webhook = await serverWith(async (request, response) => {
    await bodyOf(request)
    response.setHeader('set-cookie', `s=${SECRETS.setCookie}`)
    const echo = `unknown signature ${request.headers['kindly-hmac']} of ${PERSONAL.userName} ${SECRETS.setCookie}`
    response.end(echo.replaceAll('/', '\\/'))
  })
  const hook = `${webhook.url}/hook?secret=${SECRETS.hookSecret}`
  const proxy = await startProxy(platform.url, hook, ['--api-key', KEY, ...flags])
  const stream = await fetch(`${proxy.url}/_sim/events`)
  const secret = {
    ...{ 'x-api-key': SECRETS.apiKeyHeader, 'x-tenant': SECRETS.tenant },
    ...{ cookie: `a=${SECRETS.cookie}`, 'x-request-id': SECRETS.requestId },
  }
  const signature = await sign(event, KEY)
  await deliver(proxy.deliveryUrl, event, {
    'Kindly-HMAC': signature,
    'x-forwarded-for': SECRETS.clientAddress,
    'x-forwarded-host': SECRETS.hostOfTunnel,
  })
  const sender = { name: PERSONAL.agentName, avatar: PERSONAL.avatar, language_codes: ['nb'] }
  const from = { chat_id: PERSONAL.chatId, sender }
  await call(proxy.url, 'start', from, secret)
  await call(proxy.url, `message/?token=${SECRETS.queryToken}`, { ...from, message: `Hei ${PERSONAL.userName}` })
  const authorization = `Bearer ${SECRETS.botKey}`
  await fetch(`${proxy.url}/api/v1/chats/${PERSONAL.chatId}`, { headers: { authorization } })
  await fetch(`${proxy.url}/files/77/${PERSONAL.file}`)
  await proxy.waitFor('api', 4)
  return { signature, outputs: await outputsOf(proxy, stream) }
}

/** Everything that the proxy writes or shows. */
async function outputsOf(proxy: StartedProxy, stream: Response): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {}
  const chats = (await proxy.client('GET', '/chats')).body.chats as { chat_id: string }[]
  const paths =
    '/journal /chats /state /snapshot?journal=true /deliveries /config /keys /readiness /faults /wait?kind=api'
  for (const path of [...paths.split(' '), ...chats.map(({ chat_id }) => `/chats/${encodeURIComponent(chat_id)}`)])
    outputs[path] = await (await fetch(`${proxy.url}/_sim${path}`)).text()
  outputs.record = await (await fetch(`${proxy.url}/_sim/record`, { method: 'POST', body: '{"reads":true}' })).text()
  outputs.page = await (await fetch(`${proxy.url}/`, { headers: { accept: 'text/html' } })).text()
  const last = String((await proxy.entries()).at(-1)?.seq)
  outputs.events = ''
  for await (const { id, data } of readEvents(stream.body!)) {
    outputs.events += data
    if (id === last) break
  }
  await proxy.stop()
  // The delivery path is printed once, where the user asks for it.
  outputs.log = proxy.io.stderr.text.replaceAll(PATH, '')
  outputs.stdout = proxy.io.stdout.text
  outputs.file = proxy.file()
  return outputs
}

/** The planted values that occur in an output, as they are or as JSON or addresses write them. */
function found(outputs: Record<string, string>, planted: Readonly<Record<string, string>>): string[] {
  return Object.entries(outputs).flatMap(([output, text]) =>
    Object.entries(planted)
      .filter(([, value]) =>
        [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)].some(
          form => text.includes(form) || text.includes(form.replaceAll('/', '\\/')),
        ),
      )
      .map(([name]) => `${name} in ${output}`),
  )
}

it('shows no secret of either program, and bodies are whole otherwise', async () => {
  const { signature, outputs } = await playPlanted([])
  expect(found(outputs, { ...SECRETS, signature })).toEqual([])
  expect(found({ file: outputs.file ?? '' }, { ...PERSONAL, fileUrl: 'nordahl.pdf?sig=' })).toHaveLength(
    Object.keys(PERSONAL).length,
  )
  expect(outputs.file).toMatch(/your key [^"]*\*\*\* \*\*\* \*\*\* HttpOnly/)
  expect(outputs.file).toContain('unknown signature *** of')
})

it('--anonymise leaves personal values out, but their form, which are equal, and what the protocol defines', async () => {
  const { signature, outputs } = await playPlanted(['--anonymise'])
  const parts = { first: 'Solveig', last: 'Nordahl', agent: 'Torbj', cdn: 'acme-cdn', desk: 'desk.acme', tel: '91234' }
  expect(found(outputs, { ...SECRETS, ...PERSONAL, ...parts, signature })).toEqual([])

  const entries = JSON.parse(outputs['/journal'] ?? '').entries as Entry[]
  const [delivery] = entries.filter(({ kind }) => kind === 'delivery') as EntryOf<'delivery'>[]
  const payload = JSON.parse(delivery?.request.body ?? '')
  const file = /^https:\/\/[0-9a-f]{12}\.example\/\w\/\d{4}\/[a-z]+\.[a-z]+\?sig=\w\w\d\d$/
  expect(payload).toMatchObject({
    ...{ event: 'MESSAGE FROM USER', bot: { id: 1042 }, chat: { language: 'nb', source: 'web' } },
    user: { id: expect.stringMatching(/^[0-9a-f]{20}$/) },
    attachments: [{ type: 'application/pdf', size_kb: 12, url: expect.stringMatching(file) }],
  })
  const { id } = payload.chat
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(payload.chat._links.self).toMatch(new RegExp(`^https://[0-9a-f]{12}\\.example/api/v1/chats/${id}$`))
  expect(payload.message).toHaveLength(JSON.parse(event).message.length)
  expect(payload.message).toMatch(
    /^\p{Lu}\p{Ll}\p{Ll} \p{Ll}\p{Ll} \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+, [a-z.]+@[a-z]+\.[a-z]+, \+\d\d \d{3} \d\d \d{3}, \p{Lu}/u,
  )
  expect(payload.message).toMatch(
    /\p{Script=Arabic}{4} \p{Script=Arabic}{7} \p{Script=Han}{7} .*\p{Extended_Pictographic}/u,
  )

  const calls = entries.filter(({ kind }) => kind === 'api') as EntryOf<'api'>[]
  expect(calls.map(({ endpoint, chat_id }) => [endpoint, chat_id])).toEqual([
    ['start', id],
    ['message', id],
    ['chat', id],
    [null, undefined],
  ])
  expect(calls[2]?.path).toBe(`/api/v1/chats/${id}`)
  const { chat } = Object(calls[2]?.response) as ReturnType<typeof transcript>
  expect(chat).toMatchObject({
    ...{ active: true, bot_id: 1042, id, messages: [{ name: chat.full_name }] },
    created: expect.stringMatching(/^20[12]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.123456Z$/),
  })
  // What is defined in an event is no word of the protocol in the context of a chat.
  const [, isRich, number, address, name] = Object.values(chat.context)
  expect([isRich, name, Object.keys(chat.context).join()]).toEqual([
    true,
    chat.full_name,
    expect.not.stringMatching(/event|is_rich/),
  ])
  expect([String(number), Object.keys(Object(address))]).toEqual([
    expect.stringMatching(/^[1-9]\d{5}$/),
    [expect.any(String)],
  ])
})

it('the anonymiser keeps the form of the JSON text, and gives other values after another start', () => {
  const { json } = createAnonymiser('salt', [])
  const text = '{ "message" : "H\\u00e5kon", "n": -12.50e3 ,"ok":true, "no": null }\n'
  expect(json(text)).toMatch(
    /^\{ "message" : "[A-Z]\\u00(?:aa|b5|ba|[d-f][0-9a-f])[a-z]{3}", "n": -[1-9]\d\.\d\de3 ,"ok":true, "no": null \}\n$/,
  )
  expect(json('{"url":"https:\\/\\/a.example\\/b"}')).toMatch(
    /^\{"url":"https:\\\/\\\/[0-9a-f]{12}\.example\\\/[a-z]"\}$/,
  )
  expect(createAnonymiser('other salt', []).json(text)).not.toBe(json(text))
})

it('the anonymiser keeps every JSON text valid and of its form, whatever it has', () => {
  const { json } = createAnonymiser('salt', [])
  const formOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(formOf)
    if (isMap(value)) return Object.values(value).map(formOf)
    return typeof value === 'string' ? value.length : value === null ? null : typeof value
  }
  const key = fc.constantFrom('context', 'event', 'id', 'bot', 'name')
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), unicodeText(), fc.uuid(), fc.emailAddress())
  const values = [text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()]
  const given = fc.anything({ key, values, maxDepth: 2, maxKeys: 4 })
  fc.assert(
    fc.property(given, fc.constantFrom(undefined, 2), (value, spaces) => {
      const written = JSON.stringify(value, null, spaces)
      const changed = json(written)
      expect(formOf(JSON.parse(changed))).toEqual(formOf(JSON.parse(written)))
      expect(json(written)).toBe(changed)
    }),
  )
})

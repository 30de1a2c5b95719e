import { expect, it } from 'vitest'
import { lastMessage, takenOver } from '../support/chats.ts'
import { inProcess, type SimulatorSetup, setUp, setUpHandover } from '../support/test-simulator.ts'

const PNG = { name: 'parcel.png', type: 'image/png', size_kb: 3 }

const pathOf = (harness: SimulatorSetup, url: string) => url.slice(harness.sim.baseUrl.length)
const open = (harness: SimulatorSetup, url: string, init?: RequestInit) => harness.send(pathOf(harness, url), init)
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

async function announced(harness: SimulatorSetup, attach: readonly object[]) {
  const chat = await takenOver(harness, { supports_attachment: true })
  await chat.says('see', { attach: attach as never })
  return harness.hook.payloadsOf('MESSAGE FROM USER')[0]!.attachments!
}

it('ST10 EV5 E4.4 R-ATT with supports_attachment the event has every attachment in the published form', async () => {
  const harness = await setUp()
  const files = await announced(harness, [PNG, { name: 'notes.txt', type: 'text/plain', size_kb: 1 }])
  expect(files).toMatchObject([PNG, { name: 'notes.txt', type: 'text/plain', size_kb: 1 }])
  expect(Object.keys(files[0]!).sort()).toEqual(['name', 'size_kb', 'type', 'url'])
  for (const { url } of files) expect(url.startsWith(`${harness.sim.baseUrl}/`)).toBe(true)
})

it.each([undefined, false])(
  'EV5 E4.4 with supports_attachment %s the event has no key attachments',
  async supported => {
    const { hook, chat } = await setUpHandover({
      start: supported === undefined ? {} : { supports_attachment: supported },
    })
    await chat.says('see', { attach: [PNG] })
    expect(hook.payloadsOf('MESSAGE FROM USER')[0]).not.toHaveProperty('attachments')
    expect(lastMessage(chat).attachments).toMatchObject([PNG])
  },
)

it.each([
  ['empty', []],
  ['absent', undefined],
] as const)('EV5 attachments.whenEmpty=%s: a message without files has %j', async (form, expected) => {
  const { hook, chat } = await setUpHandover({
    knobs: { 'attachments.whenEmpty': form },
    start: { supports_attachment: true },
  })
  await chat.says('no files')
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]?.attachments).toEqual(expected)
})

it('EV4 EV5 a message that is only a file has an empty text', async () => {
  const { hook, chat } = await setUpHandover({ start: { supports_attachment: true } })
  await chat.says('', { attach: [PNG] })
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]).toMatchObject({ message: '', attachments: [PNG] })
})

it.each([
  ['image/png', 'a.png', [0x89, 0x50, 0x4e, 0x47]],
  ['application/pdf', 'a.pdf', [0x25, 0x50, 0x44, 0x46]],
  ['image/gif', 'a.gif', [0x47, 0x49, 0x46, 0x38]],
  ['application/zip', 'a.zip', []],
  ['text/plain', 'a.txt', [0x61, 0x2e, 0x74, 0x78, 0x74]],
])('R-ATT the link of a described %s file serves size_kb kilobytes of that type', async (type, name, start) => {
  const harness = await setUp()
  const [file] = await announced(harness, [{ name, type, size_kb: 7 }])
  const answer = await open(harness, file!.url)
  const bytes = await bytesOf(answer)
  expect([answer.status, answer.headers.get('content-type'), bytes.length]).toEqual([200, type, 7 * 1024])
  expect([...bytes.subarray(0, start.length)]).toEqual(start)
})

it('R-ATT the same seed and file always give the same bytes, and another file gives other bytes', async () => {
  const [first, second] = [await setUp(), await setUp()]
  const zip = { name: 'a.zip', type: 'application/zip', size_kb: 2 }
  const [one, other] = await announced(first, [zip, zip])
  const [same] = await announced(second, [zip])
  expect(pathOf(first, one!.url)).toBe(pathOf(second, same!.url))
  const bytes = await bytesOf(await open(first, one!.url))
  expect(await bytesOf(await open(second, same!.url))).toEqual(bytes)
  expect(await bytesOf(await open(first, other!.url))).not.toEqual(bytes)
})

it('R-ATT a long described file arrives in pieces: a text repeats its line, other types repeat their first 64 KiB', async () => {
  const harness = await setUp()
  const [text, zip] = await announced(harness, [
    { name: 'å list.txt', type: 'text/plain', size_kb: 200 },
    { name: 'a.zip', type: 'application/zip', size_kb: 300 },
  ])
  const lines = Buffer.from('å list.txt: a line of a file made by handover-sim.\n'.repeat(5000)).subarray(0, 204_800)
  expect(lines.equals(await bytesOf(await open(harness, text!.url)))).toBe(true)
  const bytes = await bytesOf(await open(harness, zip!.url))
  expect(bytes).toHaveLength(307_200)
  expect(bytes.subarray(65_536)).toEqual(bytes.subarray(0, -65_536))
})

it('R-ATT uploaded bytes come back as they were, and size_kb is rounded up', async () => {
  const harness = await setUp()
  const bytes = Uint8Array.from({ length: 1025 }, (_, index) => (index * 7) % 256)
  const [file] = await announced(harness, [{ name: 'raw.bin', type: 'application/octet-stream', bytes }])
  expect(file!.size_kb).toBe(2)
  expect(await bytesOf(await open(harness, file!.url))).toEqual(bytes)
})

it('R-ATT HEAD answers like GET, without the bytes', async () => {
  const harness = await setUp()
  const [file] = await announced(harness, [PNG])
  const answer = await open(harness, file!.url, { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect((await bytesOf(answer)).length).toBe(0)
})

it.each(['\ud800 half a pair.png', 'bilde æøå (1).png', "it's 100% #1?.png", 'مرفق.png', 'a/b\\c.png'])(
  'R-ATT a file called %j opens under its link',
  async name => {
    const harness = await setUp()
    const [file] = await announced(harness, [{ ...PNG, name }])
    expect(file!.name).toBe(name.replace('\ud800', '\ufffd'))
    expect((await open(harness, file!.url)).status).toBe(200)
  },
)

it('R-ATT a link opens only its file: a wrong id or name gets 404, another method 405', async () => {
  const harness = await setUp()
  const [file] = await announced(harness, [PNG])
  expect((await open(harness, `${file!.url}x`)).status).toBe(404)
  expect((await harness.send('/files/0123456789abcdef01234567/parcel.png')).status).toBe(404)
  const posted = await open(harness, file!.url, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

it.each([
  ['image/png', 'inline'],
  ['IMAGE/JPEG', 'inline'],
  ['audio/ogg', 'inline'],
  ['video/mp4', 'inline'],
  ['text/plain; charset=utf-8', 'inline'],
  ['text/html', 'attachment'],
  ['text/html; charset=utf-8', 'attachment'],
  ['image/svg+xml', 'attachment'],
  ['application/xhtml+xml', 'attachment'],
  ['text/xml', 'attachment'],
  ['application/pdf', 'attachment'],
  ['text/javascript', 'attachment'],
  ['multipart/x-mixed-replace', 'attachment'],
  ['image/png, text/html', 'attachment'],
  ['image/png;a=,text/html', 'attachment'],
  ['text/plain\t;text/html', 'attachment'],
  ['unknown', 'attachment'],
])('R-ATT a file of the type %s is inert, and its disposition is %s', async (type, disposition) => {
  const harness = await setUp()
  const [file] = await announced(harness, [{ name: 'a file', type, size_kb: 1 }])
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await open(harness, file!.url, { method })
    expect(headers.get('content-disposition')).toBe(`${disposition}; filename*=UTF-8''a%20file`)
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  }
})

it('R-ATT a page on this machine may open a link: the preflight of a browser succeeds', async () => {
  const harness = await setUp()
  const [file] = await announced(harness, [PNG])
  const origin = 'http://localhost:3000'
  const preflight = await open(harness, file!.url, { method: 'OPTIONS', headers: { origin } })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
  expect(preflight.headers.get('access-control-allow-methods')).toContain('GET')
})

it('R-ATT attachments.auth=on requires the handover key, attachments.ttl expires a link', async () => {
  const harness = await setUp(inProcess, { knobs: { 'attachments.auth': 'on', 'attachments.ttl': '1h' } })
  const [file] = await announced(harness, [PNG])
  const headers = { authorization: `Bearer ${harness.sim.apiKey}` }
  expect((await open(harness, file!.url)).status).toBe(401)
  expect((await open(harness, file!.url, { headers })).status).toBe(200)
  await harness.sim.clock.advance('1h')
  expect((await open(harness, file!.url, { headers })).status).toBe(404)
})

it('R-ATT limits.attachmentKb refuses a larger file before the message is written', async () => {
  const { chat } = await setUpHandover({ knobs: { 'limits.attachmentKb': 10 }, start: { supports_attachment: true } })
  const before = chat.view()
  await expect(chat.says('see', { attach: [{ ...PNG, size_kb: 11 }] })).rejects.toThrow('attachments')
  expect(chat.view()).toEqual(before)
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('R-ATT size_kb %d is refused', async size_kb => {
  const { chat } = await setUpHandover({ start: { supports_attachment: true } })
  const before = chat.view()
  await expect(chat.says('see', { attach: [{ ...PNG, size_kb }] })).rejects.toThrow('size_kb')
  expect(chat.view()).toEqual(before)
})

it.each(['text/plain\nx-evil: 1', 'tekst/plæin ☂', ''])(
  'R-ATT the media type %j does not break its link',
  async type => {
    const harness = await setUpHandover({ start: { supports_attachment: true } })
    const { chat } = harness
    const outcome = await chat.says('see', { attach: [{ ...PNG, type }] }).then(
      () => 'sent',
      () => 'refused',
    )
    if (outcome === 'refused') return expect(harness.hook.events()).toEqual([])
    const answer = await open(harness, harness.hook.payloadsOf('MESSAGE FROM USER')[0]!.attachments![0]!.url)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-evil')).toBeNull()
  },
)

it('R-ATT a link contains the path of its base URL', async () => {
  const harness = await setUp(inProcess, { baseUrl: 'https://sim.example.test/platform/' })
  const [file] = await announced(harness, [PNG])
  expect(file!.url.startsWith('https://sim.example.test/platform/files/')).toBe(true)
  expect((await harness.sim.fetch(new Request(file!.url))).status).toBe(200)
})

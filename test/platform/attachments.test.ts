import { expect, it } from 'vitest'
import { lastMessage } from '../support/chats.ts'
import { type ChatSetup, setUpHandover } from '../support/test-simulator.ts'

const PNG = { name: 'parcel.png', type: 'image/png', size_kb: 3 }

const pathOf = ({ sim }: ChatSetup, url: string) => url.slice(sim.baseUrl.length)
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

const setUpAttachments = (options: Parameters<typeof setUpHandover>[0] = {}) =>
  setUpHandover({ start: { supports_attachment: true }, ...options })

/** Attaches files to a user message, and returns them as the webhook received them, with a function that opens a link. */
async function announce(attach: readonly object[], options: Parameters<typeof setUpHandover>[0] = {}) {
  const setup = await setUpAttachments(options)
  await setup.chat.says('see', { attach: attach as never })
  const files = setup.hook.payloadsOf('MESSAGE FROM USER')[0]!.attachments!
  const open = (url = files[0]!.url, init?: RequestInit) => setup.send(pathOf(setup, url), init)
  return { ...setup, files, file: files[0]!, open }
}

it('ST10 EV5 E4.4 R-ATT with supports_attachment the event has every attachment in the published form', async () => {
  const { sim, files } = await announce([PNG, { name: 'notes.txt', type: 'text/plain', size_kb: 1 }])
  expect(files).toMatchObject([PNG, { name: 'notes.txt', type: 'text/plain', size_kb: 1 }])
  expect(Object.keys(files[0]!).sort()).toEqual(['name', 'size_kb', 'type', 'url'])
  for (const { url } of files) expect(url.startsWith(`${sim.baseUrl}/`)).toBe(true)
})

it.each([{}, { supports_attachment: false }])('EV5 E4.4 a start with %j: the event has no attachments', async start => {
  const { hook, chat } = await setUpHandover({ start })
  await chat.says('see', { attach: [PNG] })
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]).not.toHaveProperty('attachments')
  expect(lastMessage(chat).attachments).toMatchObject([PNG])
})

it('EV4 EV5 a message that is only a file has an empty text', async () => {
  const { hook, chat } = await setUpAttachments()
  await chat.says('', { attach: [PNG] })
  expect(hook.payloadsOf('MESSAGE FROM USER')[0]).toMatchObject({ message: '', attachments: [PNG] })
})

it.each([
  ['image/png', 'a.png', [0x89, 0x50, 0x4e, 0x47]],
  ['application/pdf', 'a.pdf', [0x25, 0x50, 0x44, 0x46]],
  ['image/gif', 'a.gif', [0x47, 0x49, 0x46, 0x38]],
  ['application/zip', 'a.zip', []],
  ['text/plain', 'a.txt', [0x61, 0x2e, 0x74, 0x78, 0x74]],
])('R-ATT the link of a %s file serves size_kb kilobytes', async (type, name, start) => {
  const { file, open } = await announce([{ name, type, size_kb: 7 }])
  const answer = await open()
  const bytes = await bytesOf(answer)
  expect([answer.status, answer.headers.get('content-type'), bytes.length]).toEqual([200, type, 7 * 1024])
  expect([...bytes.subarray(0, start.length)]).toEqual(start)
  const head = await open(file.url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), (await bytesOf(head)).length]).toEqual([200, type, 0])
})

it('R-ATT the same seed and file always give the same bytes, and another file gives other bytes', async () => {
  const zip = { name: 'a.zip', type: 'application/zip', size_kb: 2 }
  const [first, second] = [await announce([zip, zip]), await announce([zip])]
  expect(pathOf(first, first.file.url)).toBe(pathOf(second, second.file.url))
  const bytes = await bytesOf(await first.open())
  expect(await bytesOf(await second.open())).toEqual(bytes)
  expect(await bytesOf(await first.open(first.files[1]!.url))).not.toEqual(bytes)
})

it('R-ATT a long described file arrives in pieces: a text repeats its line, other types repeat their first 64 KiB', async () => {
  const { files, open } = await announce([
    { name: 'å list.txt', type: 'text/plain', size_kb: 200 },
    { name: 'a.zip', type: 'application/zip', size_kb: 300 },
  ])
  const lines = Buffer.from('å list.txt: a line of a file made by handover-sim.\n'.repeat(5000)).subarray(0, 204_800)
  expect(lines.equals(await bytesOf(await open()))).toBe(true)
  const bytes = await bytesOf(await open(files[1]!.url))
  expect(bytes).toHaveLength(307_200)
  expect(Buffer.from(bytes.subarray(65_536)).equals(bytes.subarray(0, -65_536))).toBe(true)
})

it('R-ATT uploaded bytes come back as they were, and size_kb is rounded up', async () => {
  const bytes = Uint8Array.from({ length: 1025 }, (_, index) => (index * 7) % 256)
  const { file, open } = await announce([{ name: 'raw.bin', type: 'application/octet-stream', bytes }])
  expect(file.size_kb).toBe(2)
  expect(await bytesOf(await open())).toEqual(bytes)
})

it.each(['\ud800 half a pair.png', 'bilde æøå (1).png', "it's 100% #1?.png", 'مرفق.png', 'a/b\\c.png'])(
  'R-ATT a file called %j opens under its link',
  async name => {
    const { file, open } = await announce([{ ...PNG, name }])
    expect(file.name).toBe(name.replace('\ud800', '\ufffd'))
    expect((await open()).status).toBe(200)
  },
)

it('R-ATT a link opens only its file: a wrong id or name gets 404, another method 405', async () => {
  const { file, open, send } = await announce([PNG])
  for (const more of ['x', '/', '/more', '%2Fmore']) expect((await open(`${file.url}${more}`)).status).toBe(404)
  expect((await send('/files/0123456789abcdef01234567/parcel.png')).status).toBe(404)
  const posted = await open(file.url, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

const INLINE = ['image/png', 'IMAGE/JPEG', 'audio/ogg', 'video/mp4', 'text/plain; charset=utf-8']
const DOWNLOADED = [
  ...['text/html', 'text/html; charset=utf-8', 'image/svg+xml', 'application/xhtml+xml', 'text/xml', 'application/pdf'],
  ...['text/javascript', 'multipart/x-mixed-replace', 'image/png, text/html', 'image/png;a=,text/html'],
  ...['text/plain\t;text/html', 'unknown'],
]
it.each([...INLINE, ...DOWNLOADED])('R-ATT a file of the type %s is inert', async type => {
  const { file, open } = await announce([{ name: 'a file', type, size_kb: 1 }])
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await open(file.url, { method })
    const disposition = INLINE.includes(type) ? 'inline' : 'attachment'
    expect(headers.get('content-disposition')).toBe(`${disposition}; filename*=UTF-8''a%20file`)
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  }
})

it.each([
  [11, 'attachments'],
  [-1, 'size_kb'],
  ['1e3', 'size_kb'],
  [' 12 ', 'size_kb'],
  ['10.5', '11 KB, more than the 10 KB allowed'],
  [Number.NaN, 'size_kb'],
  [Number.POSITIVE_INFINITY, 'size_kb'],
])('R-ATT limits.attachmentKb=10: size_kb %j is refused before the message is written', async (size_kb, named) => {
  const { chat } = await setUpAttachments({ knobs: { 'limits.attachmentKb': 10 } })
  const before = chat.view()
  await expect(chat.says('see', { attach: [{ ...PNG, size_kb }] })).rejects.toThrow(named)
  expect(chat.view()).toEqual(before)
})

it.each([
  [12.5, 13],
  ['12', 12],
  ['12.5', 13],
  [0.001, 1],
  [0, 0],
  ['0', 0],
])('R-ATT.4 a size_kb of %j is %d in the event, and the file has as many kilobytes', async (size_kb, whole) => {
  const { file, open } = await announce([{ ...PNG, size_kb }])
  expect([file.size_kb, (await bytesOf(await open())).length]).toEqual([whole, whole * 1024])
})

it.each([
  [{ name: '' }, 'attachments: a file needs a name.'],
  [{ name: '.' }, 'attachments: the name "." means a folder, so no link can end with it'],
  [{ name: '..' }, 'attachments: the name ".." means a folder, so no link can end with it'],
  [{ name: 'x'.repeat(4097) }, 'the name of a file may take 4096 bytes in its link, got 4097; shorten "xxx'],
  [{ name: '📎'.repeat(400) }, 'the name of a file may take 4096 bytes in its link, got 4800; shorten "📎'],
  [{ type: `image/${'x'.repeat(250)}` }, 'the type of "parcel.png" may have 255 characters, got 256'],
])('R-ATT a file that no link can carry is refused with its reason: %j', async (fields, reason) => {
  const { hook, chat } = await setUpAttachments()
  await expect(chat.says('see', { attach: [PNG, { ...PNG, ...fields }] })).rejects.toThrow(reason)
  expect(hook.events()).toEqual([])
})

it('R-ATT a file of another type than its bytes arrives as it was declared', async () => {
  const bytes = new TextEncoder().encode('%PDF-1.4 no picture')
  const { file, open } = await announce([{ name: 'scan.png', type: 'image/png', bytes }])
  const answer = await open()
  expect(file).toMatchObject({ name: 'scan.png', type: 'image/png', size_kb: 1 })
  expect([answer.headers.get('content-type'), await bytesOf(answer)]).toEqual(['image/png', bytes])
})

it('R-ATT the header names the file by a text that has no sign with a meaning in headers', async () => {
  const { open } = await announce([{ ...PNG, name: `it's (1)*;\r\n"x".png` }])
  expect((await open()).headers.get('content-disposition')).toBe(
    "inline; filename*=UTF-8''it%27s%20%281%29%2A%3B%0D%0A%22x%22.png",
  )
})

it.each(['?X-Signature=', '?token=%2F..%2F&X-Signature='])('R-ATT a link opens with a long query: %s', async query => {
  const { file, open } = await announce([PNG])
  expect((await open(`${file.url}${query}${'a'.repeat(3_000)}`)).status).toBe(200)
})

it.each(['text/plain\nx-evil: 1', 'tekst/plæin ☂', ''])('R-ATT the type %j does not break its link', async type => {
  const setup = await setUpAttachments()
  const refused = await setup.chat.says('see', { attach: [{ ...PNG, type }] }).then(
    () => false,
    () => true,
  )
  if (refused) return expect(setup.hook.events()).toEqual([])
  const answer = await setup.send(pathOf(setup, setup.hook.payloadsOf('MESSAGE FROM USER')[0]!.attachments![0]!.url))
  expect([answer.status, answer.headers.get('x-evil')]).toEqual([200, null])
})

it('R-ATT a link contains the path of its base URL', async () => {
  const { sim, file } = await announce([PNG], { baseUrl: 'https://sim.example.test/platform/' })
  expect(file.url.startsWith('https://sim.example.test/platform/files/')).toBe(true)
  expect((await sim.fetch(new Request(file.url))).status).toBe(200)
})

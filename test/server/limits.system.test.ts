/** Limits of many megabytes: what the server reads and writes. */
import { expect, test } from 'vitest'
import { connectRaw } from '../support/network.ts'
import { startTestServer } from '../support/test-server.ts'

test('a snapshot with more bytes than the limit is neither written nor read', async () => {
  const { server, control } = await startTestServer()
  const bytes = new Uint8Array(51_000_000)
  const chat = await server.chat()
  await chat.says('Here', { attach: [{ name: 'a.bin', type: 'application/octet-stream', bytes }] })
  const written = await control('GET', '/snapshot')
  expect([written.status, written.body.error.code]).toEqual([422, 'invalid_snapshot'])
  expect(written.body.error.message).toMatch(/has more than 67108864 bytes/)
  // In memory there is no file that would have to be read again.
  expect(server.snapshot().files).toHaveLength(1)
  const text = JSON.stringify({ v: 1, padding: 'x'.repeat(67_108_864) })
  const read = await control('PUT', '/snapshot', { text })
  expect([read.status, read.body.error.code]).toEqual([413, 'payload_too_large'])
  expect(read.body.error.message).toMatch(/at most 67108864 bytes; this one has 6710\d+ bytes/)
})

test('an upload that never ends is aborted', async () => {
  const { server } = await startTestServer({ knobs: { 'limits.body': 1000 } })
  const line = await connectRaw(server.port)
  line.send('POST /api/v2/handover/start HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n')
  line.send(`Authorization: Bearer ${server.apiKey}\r\n\r\n`)
  for (let i = 0; i < 70; i++) line.send(`100000\r\n${'x'.repeat(0x100000)}\r\n`)
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 413 /)
})

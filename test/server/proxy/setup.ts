/** Starts what stands around a proxy in its tests: servers in place of the platform or the webhook, and the command itself. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import type { Entry, EntryKind, EntryOf } from '../../../src/platform/journal/entry.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { createControlClient } from '../../support/control-client.ts'

export const KEY = 'the-real-handover-key-of-acme'
export const PATH = '/_webhook/known-in-this-test'

/** A server that answers with `listener`; its URL, and the sockets of its connections. */
export async function serverWith(listener: RequestListener) {
  const server = createServer(listener)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    sockets.push(socket)
  })
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, server }
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** A port at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const { url, server } = await serverWith(() => {})
  await new Promise(resolve => server.close(resolve))
  return url
}

export type StartedProxy = Awaited<ReturnType<typeof startProxy>>

/** Runs `handover-sim proxy` in this process. */
export async function startProxy(
  upstream: string,
  webhook: string,
  flags: readonly string[] = ['--api-key', KEY],
  cwd = folderWith(),
) {
  const io = fakeIo(cwd)
  const args = ['--upstream', upstream, '--webhook-url', webhook, '--port', '0', '--delivery-path', PATH]
  const code = main(['proxy', ...args, ...flags], {}, io)
  await Promise.race([io.stdout.until(/\n/), code.then(() => Promise.reject(new Error(io.stderr.text)))])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(io.stdout.text)?.[0] ?? ''
  const client = createControlClient({ url })
  const entries = async (): Promise<readonly Entry[]> => (await client('GET', '/journal')).body.entries
  return {
    ...{ io, url, code, client, entries, deliveryUrl: url + PATH },
    /** The notes of this name. */
    notes: async (name: string) => (await entries()).filter(one => one.kind === 'note' && one.note === name),
    /** Resolves with the entries of this kind, once there are so many. */
    async waitFor<Kind extends EntryKind>(kind: Kind, count = 1): Promise<EntryOf<Kind>[]> {
      for (let after = 0; ; ) {
        const found = (await entries()).filter(one => one.kind === kind) as EntryOf<Kind>[]
        if (found.length >= count) return found
        const { body } = await client('GET', `/wait?kind=${kind}&after=${after}&timeout=60s`)
        after = body.seq
      }
    },
    /** The text of the journal file. */
    file() {
      const folder = join(cwd, '.handover-sim')
      return readFileSync(join(folder, readdirSync(folder).at(-1) ?? ''), 'utf8')
    },
    stop() {
      io.signal('SIGINT')
      return code
    },
  }
}

/** Sends an event with these bytes as the platform does. */
export const deliver = (to: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(to, { method: 'POST', body: body as string, headers: { 'content-type': 'application/json', ...headers } })

export const call = (url: string, endpoint: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v2/handover/${endpoint}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ bot_id: 1042, chat_id: 'c-1', ...body }),
  })

/** Lists other local servers that stand in for a service, for a comparison by name: `npm run bench -- --beside emulate`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RequestTemplate } from '../load.ts'
import type { Server } from '../servers.ts'

export interface Peer {
  /** What npm installs into a temporary folder. */
  readonly install: string
  /** The command of the installed package. */
  readonly command: string
  /** The request of handover-sim that is nearest to the one of the peer. */
  readonly ours: 'message' | 'transcript'
  readonly compares: string
  readonly request: RequestTemplate
  /** Writes the files that the peer needs, and returns its arguments. */
  prepare(folder: string, port: number, simulator: Server): Promise<readonly string[]>
}

const JSON_TYPE = { 'content-type': 'application/json' } as const

export const PEERS: Readonly<Record<string, Peer>> = {
  emulate: {
    install: 'emulate@0.12.2',
    command: 'emulate',
    ours: 'message',
    compares: 'POST chat.postMessage of its Slack emulator: it checks a token, stores the message and answers with it',
    request: {
      method: 'POST',
      path: '/api/chat.postMessage',
      headers: { ...JSON_TYPE, authorization: 'Bearer test_token_admin' },
      body: { channel: 'general', text: 'Hello, this is Anna. How can I help you today?' },
    },
    prepare: async (_folder, port) => ['start', '-p', `${port}`, '-s', 'slack'],
  },
  prism: {
    install: '@stoplight/prism-cli@5.16.0',
    command: 'prism',
    ours: 'message',
    compares:
      'POST message of a mock from our OpenAPI document: it checks the request by the schema and answers the example',
    request: {
      method: 'POST',
      path: '/api/v2/handover/message/',
      headers: { ...JSON_TYPE, authorization: 'Bearer sim-handover-key' },
      body: {
        bot_id: 1042,
        chat_id: 'a-chat',
        message: 'Hello, this is Anna. How can I help you today?',
        sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
      },
    },
    async prepare(folder, port, simulator) {
      const response = await fetch(`${simulator.url}/_sim/platform-openapi.json`)
      await writeFile(join(folder, 'openapi.json'), await response.text())
      return ['mock', join(folder, 'openapi.json'), '-p', `${port}`, '-v', 'silent']
    },
  },
  'json-server': {
    install: 'json-server@0.17.4',
    command: 'json-server',
    ours: 'transcript',
    compares: 'GET of a chat with 20 messages from its file: it looks the record up and writes it as JSON',
    request: { method: 'GET', path: '/chats/1' },
    async prepare(folder, port) {
      const messages = Array.from({ length: 20 }, (_, id) => ({
        id: `${id}`,
        from_bot: id % 2 === 1,
        message: `Where is my parcel ${id}?`,
        name: 'Anna',
        buttons: [],
        created: '2026-01-01T00:00:00.000000Z',
      }))
      await writeFile(join(folder, 'db.json'), JSON.stringify({ chats: [{ id: 1, messages }] }))
      return ['--quiet', '--host', '127.0.0.1', '--port', `${port}`, join(folder, 'db.json')]
    },
  },
}

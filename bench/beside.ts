/** Measures the shipped command beside another local server that stands in for a service, and both beside a bare one. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SERVER_CORE, startProcess, temporaryFolder } from './processes.ts'
import { answerOf, callRows, type RequestTemplate, type Settings, underLoad } from './rounds.ts'
import type { Row } from './rows.ts'
import { createChats, messageTo, startBare, startSimulator, transcriptOf } from './servers.ts'

interface Peer {
  readonly version: string
  readonly compares: string
  readonly request: RequestTemplate
  /** Its request stands beside this one of handover-sim. */
  readonly ours: 'POST message' | 'GET transcript of 20 messages'
  readonly args: readonly string[]
}

/** `PORT` in the arguments is a free port; `openapi.json` and `db.json` are in the folder in which they run. */
export const PEERS: Readonly<Record<string, Peer>> = {
  emulate: {
    version: 'emulate@0.12.2',
    compares: 'POST chat.postMessage of its Slack: it looks the token up, stores the message and answers with it',
    request: {
      method: 'POST',
      path: '/api/chat.postMessage',
      // It refuses the 5000th request of a token within an hour, and takes any token.
      headers: { 'content-type': 'application/json', authorization: 'Bearer token-{id}' },
      body: { channel: 'general', text: 'Hello, this is Anna. How can I help you today?' },
      ids: Array.from({ length: 1000 }, (_, index) => `${1000 + index}`),
    },
    ours: 'POST message',
    args: ['start', '-p', 'PORT', '-s', 'slack'],
  },
  prism: {
    version: '@stoplight/prism-cli@5.16.0',
    compares: 'POST message of our OpenAPI document: it checks the request by the schema and answers the example',
    request: messageTo(['a-chat']),
    ours: 'POST message',
    args: ['mock', 'openapi.json', '-p', 'PORT', '-v', 'silent'],
  },
  'json-server': {
    version: 'json-server@0.17.4',
    compares: 'GET of a chat with 20 messages from its file: it looks the record up and writes it as JSON',
    request: { method: 'GET', path: '/chats/1' },
    ours: 'GET transcript of 20 messages',
    args: ['--quiet', '--host', '127.0.0.1', '--port', 'PORT', 'db.json'],
  },
}

/** Throws when the other server cannot be installed, does not start, or refuses requests. */
export async function beside(settings: Settings, name: string, peer: Peer): Promise<Row[]> {
  const { version, compares, request: itsRequest, ours: title, args } = peer
  using folder = temporaryFolder()
  const inFolder = (file: string) => join(folder.path, file)
  const install = ['install', '--prefix', folder.path, '--no-audit', '--no-fund', '--ignore-scripts', version]
  const { status, stderr } = spawnSync('npm', install, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Failed to install ${version}: ${stderr.trim()}`)
  await using simulator = await startSimulator(settings)
  const chats = await createChats(simulator)
  const transcript = await answerOf(simulator, transcriptOf(chats))
  const openapi = await answerOf(simulator, { method: 'GET', path: '/_sim/platform-openapi.json' })
  writeFileSync(inFolder('db.json'), `{ "chats": [{ "id": 1, "transcript": ${transcript.body} }] }`)
  writeFileSync(inFolder('openapi.json'), openapi.body)
  const request = title === 'POST message' ? messageTo(chats) : transcriptOf(chats)
  await using bare = await startBare(settings, await answerOf(simulator, request))
  // A port that was free just now.
  const other = await startBare(settings)
  await other[Symbol.asyncDispose]()
  const { port } = new URL(other.url)
  const command = [settings.node, inFolder(`node_modules/.bin/${name}`), ...args.map(arg => arg.replace('PORT', port))]
  await using started = startProcess(command, SERVER_CORE, { cwd: folder.path, stdio: 'ignore' })
  const server = { ...started, url: other.url }
  for (let tries = 1; ; tries++) {
    const problem = await answerOf(server, itsRequest).then(() => null, String)
    if (problem === null) break
    if (tries === 100) throw new Error(`Failed to start ${version}: after 20 seconds, ${problem}`)
    await setTimeout(200)
  }
  console.error(`${version}: ${compares}.`)
  const [yardstick, ours, theirs] = await underLoad(settings, [
    { server: bare, request },
    { server: simulator, request },
    { server, request: itsRequest },
  ])
  return [
    ...callRows(`${title}, beside ${name}`, ours!, theirs!),
    ...callRows(`${title}, beside a bare server`, ours!, yardstick!),
    ...callRows(`the request of ${name}, beside a bare server`, theirs!, yardstick!),
  ]
}

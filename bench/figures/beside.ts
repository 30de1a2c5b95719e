/** Measures the shipped command beside another local server, and both beside a bare `node:http` server. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PEERS, type Peer } from '../peers/peers.ts'
import { startProcess } from '../processes.ts'
import { measureAlternately, requestRows, type Side } from '../rounds.ts'
import type { Row } from '../rows.ts'
import {
  answerOf,
  createChats,
  HISTORY,
  messageTo,
  type Server,
  startBare,
  startSimulator,
  transcriptOf,
} from '../servers.ts'
import type { Settings } from '../settings.ts'

/** A peer that cannot be installed gives one line and no rows. */
export async function beside(settings: Settings, name: string): Promise<Row[]> {
  const peer = PEERS[name]
  if (!peer) throw new Error(`Unknown peer ${name}. Use one of ${Object.keys(PEERS).join(', ')}.`)
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const problem = install(peer, folder.path)
  if (problem !== null) {
    console.error(`${name} is not compared: ${problem}`)
    return []
  }
  console.error(`${peer.install}, ${peer.compares}. Beside it: ${TITLES[peer.ours]} of handover-sim.`)
  return await compare(settings, name, peer, folder.path)
}

const TITLES = { message: 'POST message', transcript: 'GET transcript of 20 messages' } as const

/** Returns why it cannot be installed, or null. */
function install({ install: spec }: Peer, folder: string): string | null {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error', spec]
  try {
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] })
    return null
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
      .split('\n')
      .slice(0, 3)
      .join(' ')
  }
}

async function compare(settings: Settings, name: string, peer: Peer, folder: string): Promise<Row[]> {
  await using simulator = await startSimulator(settings)
  await using other = await startPeer(settings, peer, folder, simulator)
  await answerOf(other, peer.request)
  const chats = await createChats(simulator, 50, peer.ours === 'transcript' ? { history: HISTORY } : {})
  const request = peer.ours === 'message' ? messageTo(chats) : transcriptOf(chats)
  await using bare = await startBare(settings, peer.ours === 'message' ? {} : await answerOf(simulator, request))
  const sides: Side[] = [
    { server: bare, request },
    { server: simulator, request },
    { server: other, request: peer.request },
  ]
  const [yardstick, ours, theirs] = await measureAlternately(sides, settings)
  const title = TITLES[peer.ours]
  const figure = `beside-${name}`
  return [
    ...requestRows({ figure, name: `${title}, beside ${name}`, ours: ours!, yardstick: theirs! }),
    ...requestRows({ figure, name: `${title}, beside bare`, ours: ours!, yardstick: yardstick! }),
    ...requestRows({ figure, name: `the request of ${name}, beside bare`, ours: theirs!, yardstick: yardstick! }),
  ]
}

async function startPeer(settings: Settings, peer: Peer, folder: string, simulator: Server): Promise<Server> {
  const port = await freePort()
  const args = await peer.prepare(folder, port, simulator)
  const command = [settings.node, join(folder, 'node_modules/.bin', peer.command), ...args]
  const started = await startProcess(command, { cwd: folder, port })
  return { ...started, port, url: `http://127.0.0.1:${port}` }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

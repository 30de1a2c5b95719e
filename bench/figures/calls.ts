/** Measures calls of the platform API over HTTP, and the webhooks that they cause. */
import { join } from 'node:path'
import { COMMAND, LOAD_CORE, startServer, temporaryFolder } from '../processes.ts'
import type { Figures, Settings } from '../rounds.ts'
import * as rounds from '../rounds.ts'
import { createRow } from '../rows.ts'
import * as servers from '../servers.ts'

type RequestTo = typeof servers.transcriptOf

/** The yardstick answers the same bytes. Both sides rotate over 50 chats, so transcripts grow by some thousand messages. */
async function besideBare(settings: Settings, name: string, requestTo: RequestTo, limits: [number, number]) {
  await using simulator = await servers.startSimulator(settings)
  const request = requestTo(await servers.createChats(simulator))
  await using bare = await servers.startBare(settings, await rounds.answerOf(simulator, request))
  const sides = [bare, simulator].map(server => ({ server, request }))
  const [yardstick, ours] = await rounds.underLoad(settings, sides)
  return rounds.callRows(name, ours!, yardstick!, limits)
}

const startReceiver = (delayMs: number) => servers.startWorker(process.execPath, 'receiver', `${delayMs}`, LOAD_CORE)

export const calls: Figures = {
  message: settings => besideBare(settings, 'POST message', servers.messageTo, [0.7, 4]),
  typing_start: settings => besideBare(settings, 'POST typing_start', servers.typingStart, [0.6, 5]),
  transcript: settings => besideBare(settings, 'GET transcript of 20 messages', servers.transcriptOf, [0.6, 5]),

  /** A relay passes bytes on and reads none. The pace is that of a busy intermediary, without a queue before the proxy. */
  async proxy(settings) {
    using folder = temporaryFolder()
    await using platform = await servers.startBare(settings, { body: '{ "event": "MESSAGE SENT TO USER" }' })
    const { url } = platform
    await using relay = await servers.startWorker(settings.node, 'relay', new URL(url).port)
    const flags = ['--upstream', url, '--webhook-url', url, '--journal', join(folder.path, 'journal.jsonl')]
    const command = [settings.node, COMMAND, 'proxy', '--port', '0', ...servers.QUIET, ...flags]
    await using recording = await startServer(command)
    const request = servers.messageTo(Array.from({ length: 50 }, (_, index) => `chat-${100 + index}`))
    const sides = [relay, recording].map(server => ({ server, request, connections: 8, pauseMs: 10 }))
    const measured = await rounds.underLoad(settings, sides)
    return [rounds.addedP99('a call through the proxy, p99 beyond that of a bare relay', measured, 2)]
  },

  /** The simulator has one delivery of a chat in flight, so bare undici has as many connections as there are chats. */
  async deliveries(settings) {
    await using receiver = await startReceiver(0)
    const compare = async (name: string, chats: number, count: number, limit: number) => {
      const [yardstick, ours] = await rounds.alternately(
        settings.rounds,
        ['bareDeliveries', 'deliveries'],
        async way => {
          const [perCall] = await rounds.microseconds(settings, way, count, receiver.url, `${chats}`)
          return 1e6 / perCall!
        },
      )
      return createRow(name, '/s', ours!, ['ratio', '>=', limit], yardstick)
    }
    return [
      await compare('signed deliveries of 50 chats', 50, rounds.fewer(settings, 2000, 200), 0.5),
      await compare('signed deliveries of one chat', 1, rounds.fewer(settings, 500, 50), 0.6),
    ]
  },

  /** Measures calls that cause an event, 500 a second, so that both the simulator and the load have time left. */
  async 'slow-receiver'(settings) {
    await using fast = await startReceiver(0)
    await using slow = await startReceiver(500)
    await using besideFast = await servers.startSimulator(settings, [...servers.QUIET, '--webhook-url', fast.url])
    await using besideSlow = await servers.startSimulator(settings, [...servers.QUIET, '--webhook-url', slow.url])
    const sides = []
    for (const server of [besideFast, besideSlow]) {
      const request = servers.typingStart(await servers.createChats(server))
      sides.push({ server, request, connections: 10, pauseMs: 20 })
    }
    const measured = await rounds.underLoad(settings, sides)
    return [rounds.addedP99('p99 of the API that a slow receiver adds', measured, 1)]
  },

  /** The default memory limit holds fewer chats that an agent has taken over. Both sides have the larger limit. */
  async 'many-chats'(settings) {
    const flags = [...servers.QUIET, '--memory-limit', '256mb']
    await using few = await servers.startSimulator(settings, flags)
    await using many = await servers.startSimulator(settings, flags)
    const count = rounds.fewer(settings, 100_000, 1000)
    const [yardstick, ours] = await rounds.underLoad(settings, [
      { server: few, request: servers.messageTo(await servers.createChats(few, 100, [])) },
      { server: many, request: servers.messageTo(await servers.createChats(many, count, [])) },
    ])
    const name = `POST message among ${count} chats beside 100`
    return [createRow(name, '/s', ours!.perSecond, ['ratio', '>=', 0.9], yardstick!.perSecond)]
  },
}

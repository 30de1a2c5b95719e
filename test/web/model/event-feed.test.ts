/** Follows the journals of real servers as the page does: through a reset, an interruption, and a restart. */

import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { createControlClient } from '../../../src/pages/web/client/control.ts'
import { type FeedState, followJournal } from '../../../src/pages/web/client/event-feed.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { freePort } from '../../support/port.ts'

function follow({ url }: Pick<PlatformServer, 'url'>) {
  const seen = { entries: [] as Entry[], resets: 0, states: [] as FeedState[] }
  const client = createControlClient(new URL(url), null, null)
  const stop = followJournal(client, {
    onEntries: entries => void seen.entries.push(...entries),
    onReset() {
      seen.resets++
      seen.entries.length = 0
    },
    onState: state => void seen.states.push(state),
  })
  onTestFinished(stop)
  return seen
}

const chats = ({ entries }: { entries: readonly Entry[] }) => entries.map(({ seq, chat_id }) => [seq, chat_id])
const expected = (ids: readonly string[]) => ids.map((id, index) => [index + 1, id])

async function create(server: PlatformServer, ids: readonly string[]): Promise<void> {
  for (const id of ids) await server.chat({ id })
}

test('a restart of the server with more entries leaves no gap and no double', async () => {
  const port = await freePort()
  const first = await startSimulator({ port })
  await create(first, ['a', 'b'])
  const seen = follow(first)
  await expect.poll(() => chats(seen)).toEqual(expected(['a', 'b']))
  await first.close()

  await using second = await startSimulator({ port })
  await create(second, ['c', 'd', 'e'])
  await expect.poll(() => chats(seen)).toEqual(expected(['c', 'd', 'e']))
  expect(seen.resets).toBe(1)
  expect(new Set(seen.states)).toEqual(new Set(['connecting', 'live', 'lost']))
  await create(second, ['f'])
  await expect.poll(() => chats(seen)).toEqual(expected(['c', 'd', 'e', 'f']))
})

/** A connection to the server that the test can interrupt. */
async function openProxy({ port }: PlatformServer) {
  const sockets = new Set<Socket>()
  const proxy = createServer(socket => {
    const onward = connect(port, '127.0.0.1')
    for (const one of [socket, onward]) sockets.add(one.on('error', () => {}))
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const address = proxy.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return { url, interrupt: () => sockets.forEach(socket => void socket.destroy()) }
}

test('after a reset, an interruption resumes in place; a reset meanwhile begins anew', async () => {
  await using server = await startSimulator({ port: 0 })
  const proxy = await openProxy(server)
  await create(server, ['a'])
  const seen = follow(proxy)
  await expect.poll(() => chats(seen)).toEqual(expected(['a']))
  server.reset()
  await create(server, ['b'])
  await expect.poll(() => chats(seen)).toEqual(expected(['b']))

  proxy.interrupt()
  await create(server, ['c'])
  await expect.poll(() => chats(seen)).toEqual(expected(['b', 'c']))
  expect(seen.resets).toBe(1)

  proxy.interrupt()
  server.reset()
  await create(server, ['d', 'e', 'f'])
  await expect.poll(() => chats(seen)).toEqual(expected(['d', 'e', 'f']))
  expect(seen.resets).toBe(2)
})

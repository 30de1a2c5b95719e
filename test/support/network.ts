/** Opens real connections: a webhook server, and a socket that sends raw bytes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

export interface Webhook extends AsyncDisposable {
  readonly url: string
  readonly bodies: string[]
}

/** Starts a webhook on a free port; by default it answers 200. */
export async function startWebhook(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end(),
): Promise<Webhook> {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // A reset of the simulator aborts its delivery.
      return
    }
    bodies.push(Buffer.concat(chunks).toString())
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export type RawConnection = Awaited<ReturnType<typeof connectRaw>>

/** Opens a socket that sends raw bytes. */
export async function connectRaw(port: number) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let wake = () => {}
  let closed = false
  const finish = () => {
    closed = true
    wake()
  }
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    wake()
  })
  socket.on('close', finish).on('error', finish)
  await new Promise<void>(resolve => socket.once('connect', resolve))
  const when = async (done: () => boolean): Promise<string> => {
    while (!done() && !closed)
      await new Promise<void>(resolve => {
        wake = resolve
      })
    return received
  }
  return {
    send: (bytes: string | Uint8Array) => void socket.write(bytes),
    /** Resolves with all received text when it matches, or when the socket is closed. */
    until: (pattern: RegExp) => when(() => pattern.test(received)),
    /** Resolves with all received text when the other side has closed. */
    ended: () => when(() => false),
    destroy: () => void socket.destroy(),
  }
}

/** Opens the port, or says in one line why it cannot be opened. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListenError, PortInUseError } from './listen-errors.ts'
import { findPortHolder } from './port-holder.ts'

/** Resolves with the real port. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    throw await whyNot(error as NodeJS.ErrnoException, host, port)
  }
  return (server.address() as AddressInfo).port
}

const WORDS: Record<string, string> = {
  EACCES: 'this user may not open that port; choose one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is not known',
}

async function whyNot(error: NodeJS.ErrnoException, host: string, port: number): Promise<ListenError> {
  if (error.code === 'EADDRINUSE') return new PortInUseError(host, port, await findPortHolder(port))
  return new ListenError(host, port, WORDS[error.code ?? ''] ?? error.message)
}

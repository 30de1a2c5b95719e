/** Opens the port, or says in one line why it cannot be opened. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findPortHolder, type PortHolder } from './port-holder.ts'

/** The server cannot start here: a matter of the environment, not of options or files. */
export class CannotListen extends Error {
  override readonly name: string = 'CannotListen'
  readonly host: string
  readonly port: number
  constructor(host: string, port: number, why: string) {
    super(`Failed to listen on ${host}:${port}: ${why}.`)
    this.host = host
    this.port = port
  }
}

export class PortBusy extends CannotListen {
  override readonly name = 'PortBusy'
  /** Who has it, when that could be found out. */
  readonly holder: PortHolder | null
  constructor(host: string, port: number, holder: PortHolder | null) {
    const by = holder === null ? '' : ` by ${holder.name} (process ${holder.pid})`
    super(host, port, `the port is taken${by}; stop it, or choose another port (0 means any free one)`)
    this.holder = holder
  }
}

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

async function whyNot(error: NodeJS.ErrnoException, host: string, port: number): Promise<CannotListen> {
  if (error.code === 'EADDRINUSE') return new PortBusy(host, port, await findPortHolder(port))
  return new CannotListen(host, port, WORDS[error.code ?? ''] ?? error.message)
}

/** Opens a port, and says why it cannot. */

import { promises as files } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { isMap } from '../base/objects.ts'
import { urlOf } from '../base/text/hosts.ts'
import { ListenError, type PortHolder, PortInUseError } from './listen-error.ts'

/** Resolves with the port that was opened; rejects with `ListenError` or `PortInUseError`. */
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
    throw await listenErrorFor(error as NodeJS.ErrnoException, host, port)
  }
  return (server.address() as AddressInfo).port
}

const LISTEN_REASONS: Record<string, string> = {
  EACCES: 'this user may not open that port; choose one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is not known',
}

async function listenErrorFor(error: NodeJS.ErrnoException, host: string, port: number): Promise<ListenError> {
  if (error.code === 'EADDRINUSE')
    return new PortInUseError(host, port, await findPortHolder(port), await isSimulatorAt(urlOf(host, port)))
  return new ListenError(host, port, LISTEN_REASONS[error.code ?? ''] ?? error.message)
}

/** Bounds the wait for a program that has the port and never answers: a simulator on a busy machine answers late. */
const MAX_RESPONSE_MS = 5_000

async function isSimulatorAt(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/_sim/readyz`, { signal: AbortSignal.timeout(MAX_RESPONSE_MS) })
    const body: unknown = await response.json()
    return isMap(body) && typeof body.status === 'string' && typeof body.version === 'string'
  } catch {
    return false
  }
}

const LISTENING = '0A'

export async function findPortHolder(port: number): Promise<PortHolder | null> {
  const sockets = new Set<string>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
    for (const socket of listeningSockets(await readOrNothing(table), port)) sockets.add(socket)
  if (sockets.size === 0) return null
  const nothing = () => []
  for (const pid of await files.readdir('/proc').catch(nothing)) {
    if (!/^\d+$/.test(pid)) continue
    const open = await files.readdir(`/proc/${pid}/fd`).catch(nothing)
    const targets = await Promise.allSettled(open.map(fd => files.readlink(`/proc/${pid}/fd/${fd}`)))
    for (const target of targets)
      if (target.status === 'fulfilled' && sockets.has(target.value))
        return { pid: Number(pid), name: await nameOf(pid) }
  }
  return null
}

const readOrNothing = (path: string) => files.readFile(path, 'utf8').catch(() => '')

/** Rows have the form `sl local_address rem_address st ... inode`, with addresses as hexadecimal `host:port`. */
function listeningSockets(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const sockets: string[] = []
  for (const row of table.split('\n')) {
    const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
    if (state === LISTENING && local.endsWith(ending)) sockets.push(`socket:[${inode}]`)
  }
  return sockets
}

/** The name of the program. `comm` is only the fallback: it names the first thread, which is MainThread in Node 24. */
async function nameOf(pid: string): Promise<string> {
  const [program = ''] = (await readOrNothing(`/proc/${pid}/cmdline`)).split('\0')
  return basename(program) || (await readOrNothing(`/proc/${pid}/comm`)).trim() || 'a process'
}

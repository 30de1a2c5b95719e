/** Recognizes loopback hosts, writes addresses as URLs, and lists the allowed `Host` headers. */
import { isLoopbackName } from '../../platform/api/access.ts'

/** Addresses to listen on. A name below `.localhost` is not one: only browsers promise that it is this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i
const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', ''])

export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** The URL of a server; one that listens on all addresses is reached at the loopback address. */
export function urlOf(host: string, port: number): string {
  return `http://${EVERYWHERE.has(host) ? '127.0.0.1' : bracketed(host)}:${port}`
}

/**
 * The allowed values of the `Host` header; null, which allows all, when the server listens on all addresses. `proxy` is
 * the address of a proxy before the server.
 */
export function allowedHosts(host: string, proxy: URL | null = null): readonly string[] | null {
  if (EVERYWHERE.has(host)) return null
  const names = ['localhost', '127.0.0.1', '[::1]', bracketed(host).toLowerCase()]
  return [...new Set(proxy === null ? names : [...names, proxy.hostname])]
}

/**
 * Returns the function that tells whether a `Host` header names this server: by a loopback name, an address, `host`, or
 * the host of the base URL. A server that listens beyond this machine also has names that only a local network resolves,
 * such as those of containers.
 */
export function createHostCheck(host: string, baseUrl: () => string): (header: string) => boolean {
  const isBeyondMachine = !isLoopback(host)
  return header => {
    const name = header.toLowerCase().replace(/:\d+$/, '')
    if (isLoopbackName(name) || ADDRESS.test(name)) return true
    return name === host.toLowerCase() || name === new URL(baseUrl()).hostname || (isBeyondMachine && isLocalName(name))
  }
}

/** No page has a name of this form, because browsers read it as an address. */
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/

/** Names without a dot, and below `.internal`, which has no public names: `host.docker.internal`. */
const isLocalName = (name: string): boolean => /^[\w-]+$/.test(name) || name.endsWith('.internal')

/** The process that listens on a port. */
export interface PortHolder {
  readonly pid: number
  readonly name: string
}

/** The server cannot listen on the address. The cause is the environment, not an option or a file. */
export class ListenError extends Error {
  override readonly name: string = 'ListenError'
  readonly host: string
  readonly port: number
  constructor(host: string, port: number, why: string) {
    super(`Failed to listen on ${host}:${port}: ${why}.`)
    this.host = host
    this.port = port
  }
}

/** Another process listens on the port. */
export class PortInUseError extends ListenError {
  override readonly name = 'PortInUseError'
  /** The process that listens on the port; null when it is unknown. */
  readonly holder: PortHolder | null
  constructor(host: string, port: number, holder: PortHolder | null) {
    const by = holder === null ? '' : ` by ${holder.name} (process ${holder.pid})`
    super(host, port, `the port is in use${by}; stop that process, or choose another port (0 means any free one)`)
    this.holder = holder
  }
}

export interface AllowedHosts {
  /** The allowed values of the `Host` header; null allows every value. */
  readonly hosts: readonly string[] | null
  /** Null when no token is needed. */
  readonly token: string | null
}

/** What follows the name of the server part that refuses. */
export function refusedHostText(received: string, { hosts, token }: AllowedHosts): string {
  const others = token === null ? '; to allow the host of --base-url, start with --token TOKEN' : ''
  return `refuses the host ${JSON.stringify(received)}: use ${hosts?.join(', ')}${others}.`
}

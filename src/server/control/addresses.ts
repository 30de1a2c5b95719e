/** Recognizes loopback hosts, writes addresses as URLs, and lists the allowed `Host` headers. */

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
  /** `isSimulator`: another handover-sim answers there. */
  constructor(host: string, port: number, holder: PortHolder | null, isSimulator = false) {
    const stop = `end it with npx handover-sim stop --port ${port} (run and certify need no start beside them)`
    const name = isSimulator ? 'another handover-sim' : holder?.name
    const pid = holder === null ? '' : ` (process ${holder.pid})`
    const by = name === undefined ? '' : ` by ${name}${pid}`
    const cure = isSimulator ? stop : 'stop that process'
    super(host, port, `the port is in use${by}; ${cure}, or choose another port (0 means any free one)`)
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
  const name = /^[\w.-]+$/.exec(received.replace(/:\d+$/, ''))?.[0] ?? 'HOST'
  return `refuses the host ${JSON.stringify(received)}: use ${hosts?.join(', ')}, or ${forwardedText(`https://${name}`, token)}.`
}

/** How to use a server under another address than its own, such as that of a port which a cloud workspace forwards. */
export const forwardedText = (address: string, token: string | null): string =>
  `for a forwarded port or a proxy start with --base-url ${address}${token === null ? ' --token TOKEN' : ''}`

/** Headers that tunnels and reverse proxies add. */
const FORWARDING: readonly string[] = ['x-forwarded-for', 'x-forwarded-host', 'forwarded']

/** The header that shows that a request came through a tunnel or a reverse proxy; null when it has none. */
export const forwardingHeader = (header: (name: string) => string | undefined): string | null =>
  FORWARDING.find(name => header(name) !== undefined) ?? null

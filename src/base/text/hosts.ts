/** Tells which hosts lead to this machine, to a local network, or anywhere. Hosts are in lower case and without a port. */

/** Whether an address is that of this machine. A name below `.localhost` is not: only browsers promise that it is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** Whether a browser takes the host for this machine. */
export const isLoopbackName = (host: string): boolean => isLoopback(host) || /^[\w.-]+\.localhost$/.test(host)

/** Whether a server that listens on the host listens on all addresses. */
export const isEverywhere = (host: string): boolean => ['0.0.0.0', '::', '[::]', ''].includes(host)

export const isAddress = (host: string): boolean => /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(host)

/** Names that only a machine or a local network resolves: without a dot, or below a domain that has no public names. */
const isLocalName = (host: string): boolean =>
  /^[\w-]+$|^[\w.-]+\.(localhost|local|internal|lan|home\.arpa)$/.test(host)

/** Addresses of one machine, of private networks and of one link. */
const PRIVATE_ADDRESS =
  /^(127|10|0)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^\[(::1?|f[cd][0-9a-f:]*|fe80[0-9a-f:]*)\]$/

/** Whether only a machine or a local network knows the host. */
export const isPrivate = (host: string): boolean => (isAddress(host) ? PRIVATE_ADDRESS.test(host) : isLocalName(host))

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** The URL of a server; one that listens on all addresses is reached at the loopback address. */
export const urlOf = (host: string, port: number): string =>
  `http://${isEverywhere(host) ? '127.0.0.1' : bracketed(host)}:${port}`

/** The names of a server that listens on `host`: what it may be called in a `Host` header. */
export const namesOf = (host: string): string[] => [
  ...new Set(['localhost', '127.0.0.1', '[::1]', bracketed(host).toLowerCase()]),
]

/** The host of a `Host` header. */
export const hostIn = (header: string): string => header.toLowerCase().replace(/:\d+$/, '')

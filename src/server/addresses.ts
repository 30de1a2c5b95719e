/** Host names: which are this machine only, and how an address is written in a URL. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i
const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', ''])

export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** Listening everywhere is reached at the loopback address. */
export function urlOf(host: string, port: number): string {
  return `http://${EVERYWHERE.has(host) ? '127.0.0.1' : bracketed(host)}:${port}`
}

/** What a `Host` header may name; null when every name leads here and none can be refused. */
export function allowedHosts(host: string): readonly string[] | null {
  if (EVERYWHERE.has(host)) return null
  return [...new Set(['localhost', '127.0.0.1', '[::1]', bracketed(host).toLowerCase()])]
}

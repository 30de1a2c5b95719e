/** Recognizes loopback hosts, writes addresses as URLs, and lists the allowed `Host` headers. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i
const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', ''])

export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** The URL of a server; one that listens on all addresses is reached at the loopback address. */
export function urlOf(host: string, port: number): string {
  return `http://${EVERYWHERE.has(host) ? '127.0.0.1' : bracketed(host)}:${port}`
}

/** The allowed values of the `Host` header; null, which allows all, when the server listens on all addresses. */
export function allowedHosts(host: string): readonly string[] | null {
  if (EVERYWHERE.has(host)) return null
  return [...new Set(['localhost', '127.0.0.1', '[::1]', bracketed(host).toLowerCase()])]
}

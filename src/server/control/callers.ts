/** Says who may use the parts of one server: by the address it listens on, its base URL and its token. */
import {
  hostIn,
  isAddress,
  isEverywhere,
  isLoopback,
  isLoopbackName,
  isPrivate,
  namesOf,
} from '../../base/text/hosts.ts'
import type { CallerPolicy } from '../../platform/api/access.ts'

export interface ServerCallers {
  /** The names of this server that need no token; null when all do. */
  readonly names: readonly string[] | null
  /** Null when the control API needs no token. */
  readonly token: string | null
  readonly control: CallerPolicy
  readonly page: CallerPolicy
  /** A proxy adds no key of its own, so what a web page could call needs a name of this server. */
  readonly proxy: CallerPolicy
}

export interface ServerAddress {
  /** The address the server listens on. */
  readonly host: string
  /** The URL of the platform, which may be that of a proxy in front. */
  readonly address: { readonly base: string }
  readonly token: string | null
  /** The base URL of the options; null when there is none. */
  readonly baseUrl: string | null
  /** Whether this server records calls to a platform behind it. */
  readonly isProxy: boolean
}

export function createServerCallers({ host, address, token, baseUrl, isProxy }: ServerAddress): ServerCallers {
  // Without a token, a tunnel at the base URL would open the control API to everyone.
  const base = baseUrl === null || token === null ? null : new URL(baseUrl)
  const names = isEverywhere(host) ? null : [...namesOf(host), ...(base === null ? [] : [base.hostname])]
  const isBeyondMachine = !isLoopback(host)
  const known: CallerPolicy = {
    acceptsHost: header => names === null || names.includes(hostIn(header)),
    acceptsOrigin: (origin, hostHeader) => origin === base?.origin || isPageOf(origin, hostHeader),
    acceptsReads: false,
    acceptsTunnels: !isProxy || token !== null,
    // A page that a browser shows has no token yet.
    isGuarded: () => false,
  }
  /** Names that no web page can have, and that of the base URL. */
  const acceptsHost = (header: string) => {
    const name = hostIn(header)
    if (isLoopbackName(name) || isAddress(name) || name === host.toLowerCase()) return true
    return name === new URL(address.base).hostname || (isBeyondMachine && isPrivate(name))
  }
  return {
    names,
    token,
    control: known,
    page: { ...known, acceptsOrigin: () => true, acceptsReads: true, acceptsTunnels: true },
    proxy: {
      acceptsHost,
      acceptsOrigin: () => true,
      acceptsReads: true,
      acceptsTunnels: false,
      isGuarded: () => token !== null,
    },
  }
}

/** Whether an origin has the host and port of the `Host` header. */
const isPageOf = (origin: string, host: string): boolean =>
  URL.canParse(origin) && new URL(origin).host === host.toLowerCase().replace(/:80$/, '')

/** What follows the name of the part that refuses a host. */
export function refusedHostText(received: string, { names, token }: ServerCallers): string {
  const name = /^[\w.-]+$/.exec(hostIn(received))?.[0] ?? 'HOST'
  return `refuses the host ${JSON.stringify(received)}: use ${names?.join(', ')}, or ${forwardedText(`https://${name}`, token)}.`
}

/** How to use a server under another address than its own, such as that of a port which a cloud workspace forwards. */
export const forwardedText = (address: string, token: string | null): string =>
  `for a forwarded port or a proxy start with --base-url ${address}${token === null ? ' --token TOKEN' : ''}`

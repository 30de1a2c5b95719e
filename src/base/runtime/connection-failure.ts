/** Classifies why a request got no usable answer, as a code with parameters. */
import type { Coded } from '../text/coded.ts'

interface AtTarget {
  /** Host and port. */
  readonly target: string
  /** The code of the operating system or the HTTP client, such as `ECONNREFUSED`. */
  readonly system_code: string
}

/**
 * `no_tls`: the target answers an HTTPS request with plain HTTP. `too_many_open_files`: this process can open no further
 * connection.
 */
type AtTargetCode =
  | 'connection_refused'
  | 'connection_reset'
  | 'connection_closed'
  | 'connect_timeout'
  | 'no_route'
  | 'dns_not_found'
  | 'dns_no_answer'
  | 'no_tls'
  | 'too_many_open_files'
  | 'headers_too_long'

interface Parameters extends Readonly<Record<AtTargetCode, AtTarget>> {
  /** The certificate or the TLS handshake is not accepted. */
  readonly tls: { readonly detail: string; readonly system_code: string }
  readonly not_http: { readonly target: string; readonly detail: string }
  readonly network: { readonly target: string; readonly detail: string; readonly system_code?: string }
  readonly timeout: { readonly timeout_ms: number }
  /** The proxy had no complete answer yet when the program that had sent the request closed its connection. */
  readonly sender_closed: unknown
  /** A reset of the simulator cancelled the request. */
  readonly cancelled: unknown
  /** The runtime has no sockets, so a fault cannot change how bytes travel. */
  readonly no_sockets: unknown
  readonly function_threw: { readonly detail: string; readonly place?: string }
  readonly function_returned_no_response: unknown
  /** The function returned a `Response` whose body was read before. */
  readonly function_reused_response: unknown
  /** The answer of a Lambda handler is none that a gateway accepts. */
  readonly lambda_answer_invalid: { readonly detail: string }
}

export type ConnectionFailure = Coded<Parameters>

/** Thrown by transports. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly failure: ConnectionFailure

  constructor(failure: ConnectionFailure) {
    super(failure.code)
    this.failure = failure
  }
}

export const cancelled = () => new TransportError({ code: 'cancelled' })
export const timedOut = (ms: number) => new TransportError({ code: 'timeout', timeout_ms: ms })

const SYSTEM_CODES: Readonly<Record<string, AtTargetCode>> = {
  ECONNREFUSED: 'connection_refused',
  ENOTFOUND: 'dns_not_found',
  EAI_NODATA: 'dns_not_found',
  EAI_NONAME: 'dns_not_found',
  EAI_AGAIN: 'dns_no_answer',
  EAI_FAIL: 'dns_no_answer',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ENETRESET: 'connection_reset',
  EPIPE: 'connection_closed',
  ENOTCONN: 'connection_closed',
  ESHUTDOWN: 'connection_closed',
  UND_ERR_SOCKET: 'connection_closed',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EHOSTDOWN: 'no_route',
  ENETDOWN: 'no_route',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no_tls',
  EPROTO: 'no_tls',
  EMFILE: 'too_many_open_files',
  ENFILE: 'too_many_open_files',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_long',
  HPE_HEADER_OVERFLOW: 'headers_too_long',
}

const LOSSES = {
  connection_refused: 'absent',
  connect_timeout: 'absent',
  no_route: 'absent',
  dns_not_found: 'absent',
  dns_no_answer: 'absent',
  connection_reset: 'broken',
  connection_closed: 'broken',
} as const satisfies { readonly [code in AtTargetCode]?: string }

/**
 * How the peer of a connection was lost: `absent`, no connection came about; `broken`, it ended before the response, as when
 * the peer ends, or closes the connection by itself. Null: the peer is there, and something else failed.
 */
export function peerLoss(failure: { readonly code: string } | null | undefined): 'absent' | 'broken' | null {
  const losses: Readonly<Record<string, 'absent' | 'broken'>> = LOSSES
  return failure != null && Object.hasOwn(losses, failure.code) ? losses[failure.code]! : null
}

/** The peer closed the connection, or sent something else than HTTP: perhaps it speaks TLS. */
export const isCutOff = (failure: { readonly code: string } | undefined): boolean =>
  failure?.code === 'not_http' || peerLoss(failure) === 'broken'

const TLS_CODES = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/

const CERTIFICATE_PROBLEMS = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name',
  CERT_HAS_EXPIRED: 'certificate_date',
  CERT_NOT_YET_VALID: 'certificate_date',
} as const

export type CertificateProblem = (typeof CERTIFICATE_PROBLEMS)[keyof typeof CERTIFICATE_PROBLEMS]

/** What is wrong with the certificate of the target; undefined when something else failed. */
export function certificateProblem(failure: { readonly code: string } | undefined): CertificateProblem | undefined {
  const problems: Readonly<Record<string, CertificateProblem>> = CERTIFICATE_PROBLEMS
  const system = failure?.code === 'tls' ? textPart(failure, 'system_code') : undefined
  return system !== undefined && Object.hasOwn(problems, system) ? problems[system] : undefined
}

/** `fetch` of Deno throws this text without a code. */
const REFUSED_IN_DENO = /Connection refused \(os error \d+\)$/

/** Classifies what Node or undici threw for a request to `target`. */
export function connectionFailure(error: unknown, target: string): ConnectionFailure {
  if (error instanceof TransportError) return error.failure
  const { code: ownCode, name, message: detail } = rootCause(error)
  const system_code = ownCode ?? (REFUSED_IN_DENO.test(detail) ? 'ECONNREFUSED' : undefined)
  const code = Object.hasOwn(SYSTEM_CODES, system_code ?? '') ? SYSTEM_CODES[system_code ?? ''] : undefined
  if (system_code !== undefined && code !== undefined) return { code, target, system_code }
  if (name === 'HTTPParserError' || system_code?.startsWith('HPE_')) return { code: 'not_http', target, detail }
  if (system_code === undefined) return { code: 'network', target, detail }
  return TLS_CODES.test(system_code)
    ? { code: 'tls', detail, system_code }
    : { code: 'network', target, detail, system_code }
}

/** For a status below 200 in place of that of an answer: no status at all, or a switch of protocols that nothing asked for. */
export const unusableStatus = (status: number, target: string): ConnectionFailure => ({
  code: 'not_http',
  target,
  detail: `status ${String(status).padStart(3, '0')}`,
})

interface RootCause {
  readonly code?: string
  readonly name?: string
  readonly message: string
}

/** The code, name and message of the innermost cause. */
export function rootCause(error: unknown): RootCause {
  let at = error
  for (let depth = 0; depth < 5 && !partOf(at, 'code'); depth++)
    at = partOf(partOf(at, 'errors'), '0') ?? partOf(at, 'cause') ?? at
  const [code, name, message = String(error)] = ['code', 'name', 'message'].map(key => textPart(at, key))
  return { ...(code === undefined ? {} : { code }), ...(name === undefined ? {} : { name }), message }
}

const partOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

/** The text under `key` of a thrown value. */
export function textPart(value: unknown, key: string): string | undefined {
  const part = partOf(value, key)
  return typeof part === 'string' ? part : undefined
}

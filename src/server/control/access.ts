/** Who may speak to the control API: programs on this machine, its own page, and whoever has the token. */
import { sameSecret } from '../../runtime/token.ts'
import { ControlProblem } from './problems.ts'

export interface Access {
  /** What a `Host` header may name; null when none can be refused. */
  readonly hosts: readonly string[] | null
  /** Null when none is asked for. */
  readonly token: string | null
}

export interface AccessRequest {
  /** Host and port as the client wrote them. */
  readonly host: string
  header(name: string): string | undefined
  /** Whether this route is answered without a token. */
  readonly open: boolean
}

/** The refusal that fits, or null. */
export function refusedAccess(guard: Access, asking: AccessRequest): ControlProblem | null {
  return foreignHost(guard, asking) ?? foreignPage(asking) ?? withoutToken(guard, asking)
}

/** A name that a foreign page made point here (DNS rebinding) is told by the `Host` header. */
function foreignHost({ hosts }: Access, { host }: AccessRequest): ControlProblem | null {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  if (hosts === null || hosts.includes(name)) return null
  const message = `The control API does not answer for the host ${JSON.stringify(host)}; use ${hosts.join(', ')}.`
  return new ControlProblem(403, 'foreign_host', message)
}

function foreignPage({ host, header }: AccessRequest): ControlProblem | null {
  const origin = header('origin')
  const site = header('sec-fetch-site')
  if (origin !== undefined && !sameHost(origin, host)) {
    return new ControlProblem(403, 'foreign_origin', `The control API answers no page of ${JSON.stringify(origin)}.`)
  }
  if (site !== 'cross-site') return null
  return new ControlProblem(403, 'foreign_origin', 'The control API answers no page of another site.')
}

const sameHost = (origin: string, host: string) =>
  URL.canParse(origin) && new URL(origin).host === host.toLowerCase().replace(/:80$/, '')

function withoutToken({ token }: Access, { header, open }: AccessRequest): ControlProblem | null {
  if (token === null || open) return null
  const given = header('x-handover-sim-token') ?? /^Bearer +(\S+)$/i.exec(header('authorization') ?? '')?.[1]
  if (given !== undefined && sameSecret(given, token)) return null
  const message =
    'The control API asks for its token here: Authorization: Bearer <token>, or x-handover-sim-token. It was reported when the simulator started.'
  return new ControlProblem(401, 'token_required', message, { headers: { 'www-authenticate': 'Bearer' } })
}

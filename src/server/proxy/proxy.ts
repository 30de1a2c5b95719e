/** Stands between an intermediary and the real platform in both directions, and records what passes. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { backgroundTimer, elapsedMs, type Timer, wallTime } from '../../base/runtime/clock.ts'
import { type ConnectionFailure, certificateProblem } from '../../base/runtime/connection-failure.ts'
import { randomToken, sameSecret } from '../../base/runtime/node.ts'
import { isError } from '../../base/text/error-text.ts'
import { isEverywhere, isLoopback, isLoopbackName } from '../../base/text/hosts.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { withoutCredentials } from '../../base/text/redactor.ts'
import { findForeignCaller } from '../../platform/api/access.ts'
import { simulatorResponse } from '../../platform/api/messages.ts'
import { signingHeaders } from '../../platform/webhooks/request.ts'
import { failureText, TLS_HINTS } from '../../platform/wording/failures.ts'
import { ControlProblem } from '../control/problems.ts'
import type { ProxyParts } from '../start.ts'
import { createAnonymiser } from './anonymise.ts'
import { createMask, decodedText, type Mask } from './masked.ts'
import { createObserver } from './observe.ts'
import {
  type CopiedBody,
  createRelay,
  headerIn,
  type RawHeaders,
  type Rewrite,
  type Watcher,
  without,
} from './relay.ts'

export interface ProxyOptions {
  /** The real platform. */
  readonly upstream: URL
  /** The webhook of the intermediary. */
  readonly webhookUrl: URL
  /** The path at which deliveries come in. Only the platform should know it. */
  readonly deliveryPath: string
  /** Handover keys, for the verdict on signatures; they are not part of the simulator. */
  readonly keys: readonly string[]
  readonly anonymise: boolean
  /** The file to which the command writes the journal. */
  readonly file: string
  /** Whether links to the platform lead through the proxy. */
  readonly rewriteLinks: boolean
  readonly silentAfterMs?: number
}

/** The headers that change with the body, by name in lower case; null when the body cannot change. */
type Signer = (changed: string, original: Buffer, headers: RawHeaders) => Readonly<Record<string, string>> | null

const SILENT_AFTER_MS = 120_000
const SILENT = {
  calls: (span: string) => `No call for ${span}. Does the intermediary use this proxy as the address of the platform?`,
  deliveries: (span: string) =>
    `No delivery for ${span}. Does the webhook URL of the platform end in the delivery path, and does the tunnel lead here?`,
}
type NoteDetails = Parameters<Mask['note']>[1]

/** The header of a message in which links were changed, with their number. */
const REWRITTEN_HEADER = 'X-Handover-Sim-Rewritten-Links'

const HINTS = {
  platform: 'Check --upstream, and that this machine reaches the platform.',
  webhook: 'Is the intermediary running, and is --webhook-url right?',
}

/** Reads, and acts that change nothing but the proxy itself. */
const ALLOWED_ROUTES: readonly string[] = ['recordScenario', 'settle', 'stop']

export const freshDeliveryPath = (): string => `/_webhook/${randomToken()}`

/** Whether a URL leads to a server that listens on this address. */
export function isOwnAddress(url: URL, host: string, port: number): boolean {
  const urlPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const isHere = isLoopbackName(url.hostname) || isEverywhere(url.hostname)
  const listensHere = isLoopback(host) || isEverywhere(host)
  return urlPort === port && ((isHere && listensHere) || url.hostname === host.toLowerCase())
}

export function createProxy(options: ProxyOptions): ProxyParts & { close(): void } {
  const { upstream, webhookUrl, deliveryPath, silentAfterMs = SILENT_AFTER_MS } = options
  const up = createRelay(upstream)
  const down = createRelay(webhookUrl)
  const closers = [up.close, down.close]

  function listener({ core, policy }: Parameters<ProxyParts['listener']>[0]) {
    const { knobs } = core.platform
    const anonymiser = options.anonymise ? createAnonymiser(randomToken(), [upstream.origin, webhookUrl.origin]) : null
    const mask = createMask({ knobs, secrets: core.secrets, anonymiser })
    const observer = createObserver({ core, mask, webhookUrl, keys: options.keys })
    const note = (name: string, details: NoteDetails, message: string, cause: number | null = null) =>
      observer.note(mask.note(name, details, message), cause)
    const silent = (side: keyof typeof SILENT) =>
      watchSilence(silentAfterMs, () =>
        note('silent', { side, since_ms: silentAfterMs }, SILENT[side](formatDuration(silentAfterMs))),
      )
    const calls = silent('calls')
    const deliveries = silent('deliveries')
    closers.push(calls.end, deliveries.end)

    const announced = new Set<string>()
    /** Notes, once for each host, that links lead past the proxy. */
    function checkLinks(body: CopiedBody, headers: RawHeaders): void {
      const text = body.whole === null ? null : decodedText(body.whole, headerIn(headers, 'content-encoding'))
      for (const origin of text === null ? [] : linkedOrigins(text)) {
        const isUpstream = origin === upstream.origin
        const leads = origin === new URL(core.address.base).origin || (isUpstream && options.rewriteLinks)
        if (leads || announced.has(origin)) continue
        announced.add(origin)
        const shown = isUpstream ? origin : (anonymiser?.text(origin) ?? origin)
        const cure = isUpstream ? ' To lead them through this proxy, start it with --rewrite-links.' : ''
        note('link_leaves', { link: shown }, `Links lead to ${shown}: calls that follow them are not recorded.${cure}`)
      }
    }

    /** Counts what it has changed in `done`. */
    function rewriter(done: { links: number }, sign: Signer): Rewrite | undefined {
      if (!options.rewriteLinks) return undefined
      return (body, headers) => {
        const text = decodedText(body, headerIn(headers, 'content-encoding'))
        if (text === null) return null
        let links = 0
        const changed = text.replace(linksTo(upstream.origin), link => {
          links++
          const { base } = core.address
          return `"${link.includes('\\/') ? base.replaceAll('/', '\\/') : base}`
        })
        const signature = links === 0 ? null : sign(changed, body, headers)
        if (signature === null) return null
        done.links = links
        const bytes = Buffer.from(changed)
        const fits = without(headers, ['content-length', 'content-encoding', 'transfer-encoding']).map(
          (value, at, lines) => (at % 2 === 1 ? (signature[lines[at - 1]?.toLowerCase() ?? ''] ?? value) : value),
        )
        return { body: bytes, headers: [...fits, 'Content-Length', `${bytes.length}`, REWRITTEN_HEADER, `${links}`] }
      }
    }

    function noteRewritten({ links }: { readonly links: number }, seq: number): void {
      if (links === 0) return
      const details = { links, from: upstream.origin, to: core.address.base }
      note('links_rewritten', details, `${counted(links, 'link')} changed to lead through this proxy.`, seq)
    }

    /** What recording throws is no reason to break what passes. */
    function safely(run: () => void): void {
      try {
        run()
      } catch (error) {
        // Its message may quote what passed.
        const name = isError(error) ? error.name : typeof error
        core.onThrown('call', new Error(`failed to record an exchange (${name})`))
      }
    }

    function passCall(request: IncomingMessage, response: ServerResponse, target: string): void {
      calls.seen()
      const ended = core.work.activity.begin()
      const done = { links: 0 }
      const watcher: Watcher = {
        rewriteResponse: rewriter(done, () => ({})),
        onEnd(passed, outcome) {
          safely(() => {
            noteRewritten(done, observer.call({ ...passed, target }, outcome))
            if (outcome.response !== null) checkLinks(outcome.response.body, outcome.response.headers)
          })
          ended()
        },
        refuse: (failure, response) => refuse(response, 'no_platform', upstream, failure, HINTS.platform),
      }
      up.pass(request, response, upstream.pathname.replace(/\/$/, '') + target, watcher)
    }

    function passDelivery(request: IncomingMessage, response: ServerResponse, rest: string): void {
      deliveries.seen()
      const ended = core.work.activity.begin()
      const done = { links: 0 }
      let finish: ReturnType<typeof observer.delivery> | null = null
      // What was signed with no known key passes as it is: a forged event must not become a valid one.
      const signed: Signer = (changed, original, headers) => {
        const key = observer.keyThatSigned(headers, original)
        if (key === undefined) return null
        const signature = Object.entries(signingHeaders(key, changed, '', knobs))
        return Object.fromEntries(signature.map(([name, value]) => [name.toLowerCase(), value]))
      }
      const watcher: Watcher = {
        rewriteRequest: rewriter(done, signed),
        onRequest(passed) {
          safely(() => {
            finish = observer.delivery(passed)
            checkLinks(passed.body, passed.headers)
          })
        },
        onEnd(passed, outcome) {
          safely(() => {
            finish ??= observer.delivery(passed)
            noteRewritten(done, finish(outcome))
          })
          ended()
        },
        refuse: (failure, response) => refuse(response, 'no_webhook', webhookUrl, failure, HINTS.webhook),
      }
      down.pass(request, response, webhookPath(webhookUrl, rest), watcher)
    }

    return (request: IncomingMessage, response: ServerResponse): void => {
      const url = request.url ?? '/'
      const target = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/'
      if (isBelow(target, deliveryPath)) return passDelivery(request, response, target.slice(deliveryPath.length))
      const { method = 'GET', headers } = request
      const caller = findForeignCaller({ method, headers: headers as Record<string, string> }, policy)
      if (caller === null) return passCall(request, response, target)
      request.resume()
      const why =
        caller.code === 'through_tunnel'
          ? `it has the header ${caller.value}`
          : `its Host is ${JSON.stringify(caller.value)}`
      const message = `The proxy of handover-sim refused this request: ${why}, so it came through a tunnel or from a web page. There, only the delivery path answers.`
      respondOwn(response, 403, { code: 'foreign_request', message })
    }
  }

  return {
    listener,
    description: {
      upstream: withoutCredentials(upstream.href),
      webhook_url: withoutCredentials(webhookUrl.href),
      since: wallTime(),
      file: options.file,
    },
    refusedRoute({ id, method, path }) {
      if (method === 'GET' || ALLOWED_ROUTES.includes(id)) return null
      const message = `${method} /_sim${path} acts on a simulated platform, and this is a proxy before a real one: it only records. Use npx handover-sim start for it.`
      return new ControlProblem(409, 'is_proxy', message)
    },
    close() {
      for (const close of closers) close()
    },
  }
}

const isBelow = (target: string, path: string): boolean => {
  const next = target.charAt(path.length)
  return sameSecret(target.slice(0, path.length), path) && (next === '' || next === '/' || next === '?')
}

/** Adds what the platform put behind the delivery path. */
function webhookPath({ pathname, search }: URL, rest: string): string {
  const [path = '', query = ''] = rest.split(/\?(.*)/s)
  const whole = path === '' ? pathname : pathname.replace(/\/$/, '') + path
  const queries = [search.slice(1), query].filter(text => text !== '')
  return queries.length === 0 ? whole : `${whole}?${queries.join('&')}`
}

/** A quote and the origin behind it, also with escaped slashes. */
function linksTo(origin: string): RegExp {
  const literal = origin.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('/', '\\\\?/')
  return new RegExp(`"${literal}(?=\\\\?/|")`, 'g')
}

/** Says in the form of this program, and not of the platform or the webhook, that there is no answer to pass on. */
function refuse(response: ServerResponse, code: string, to: URL, failure: ConnectionFailure, usual: string): void {
  const problem = certificateProblem(failure)
  const message = `The proxy of handover-sim got no answer from ${to.origin}: ${failureText(failure)}.`
  respondOwn(response, 502, { code, message, hint: problem === undefined ? usual : TLS_HINTS[problem] })
}

function respondOwn(response: ServerResponse, status: number, why: object): void {
  const { headers, body } = simulatorResponse(status, { handover_sim: why })
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

/** Calls `onSilent` once when nothing was seen for `afterMs`; again only after something was seen. */
function watchSilence(afterMs: number, onSilent: () => void) {
  let lastMs = elapsedMs()
  let timer: Timer | null = null
  const arm = (ms: number) => {
    timer = backgroundTimer(ms, () => {
      const leftMs = lastMs + afterMs - elapsedMs()
      if (leftMs > 0) return arm(leftMs)
      timer = null
      onSilent()
    })
  }
  arm(afterMs)
  return {
    seen() {
      lastMs = elapsedMs()
      if (timer === null) arm(afterMs)
    },
    end: () => timer?.cancel(),
  }
}

const LINK = /"(?:self|url)"\s*:\s*"(https?:\\?\/\\?\/[^"/\\?#]+)/g

/** The origins of the links in a JSON text that an intermediary follows: `_links.self`, and those of attachments. */
function linkedOrigins(text: string): Set<string> {
  const origins = new Set<string>()
  for (const [, link = ''] of text.matchAll(LINK)) {
    const url = link.replaceAll('\\/', '/')
    if (URL.canParse(url)) origins.add(new URL(url).origin)
  }
  return origins
}

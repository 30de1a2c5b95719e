/** Replays a recording of the platform in a simulator, and compares its answers with those of the recording. */
import { isSuccess } from '../../base/http-status.ts'
import { isMap } from '../../base/objects.ts'
import type { Attempt, Call, Observation, ObservedEvent, Place } from '../../evaluation/calibration/observation.ts'
import type { KnobSettings } from '../../platform/contract/knobs.ts'
import type { ChatHandle } from '../../platform/simulator/chat-handle.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../platform/simulator/simulator.ts'

/** Where the simulator did something else than the platform. */
export interface ReplayDifference {
  readonly place: Place
  readonly what: string
  readonly recorded: string
  readonly simulated: string
}

export interface ReplayResult {
  /** How many answers and events were compared. */
  readonly compared: number
  /** The first ones. */
  readonly differences: readonly ReplayDifference[]
  readonly differenceCount: number
}

const MAX_DIFFERENCES = 50
/** So long a user message makes a chat long enough for a summary. */
const HISTORY = [{ user: 'I wrote this before the recording began.' }, { user: 'And this as well, some time later.' }]
/** Headers of the connection, and keys, which a recording does not have. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding|authorization|accept-encoding|expect)$/
/** A recording may have others, such as `:path` of HTTP/2. */
const VALID_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALID_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const VALID_METHOD = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/
/** The clock is not moved further at once, because the recording may have no times. */
const MAX_PAUSE_MS = 7 * 86_400_000

/** One recording. `observe` all of it for `prepare` first, and then again for `replay`. */
export class Replay {
  readonly #knobs: KnobSettings
  readonly #bots = new Set<number>()
  /** What first tells the state of each chat that exists: an event, or a call that the platform did not refuse. */
  readonly #known = new Map<string, ObservedEvent | Call>()
  /** Whether the first summary of a chat was made, and so it has messages from before the recording. */
  readonly #summarized = new Map<string, boolean>()
  readonly #chats = new Map<string, ChatHandle>()
  #sim: PlatformSimulator | null = null
  #nowMs: number | null = null
  #failed: { readonly payload: string } | null = null
  #compared = 0
  #count = 0
  readonly #differences: ReplayDifference[] = []

  constructor(knobs: KnobSettings) {
    this.#knobs = knobs
  }

  /** Learns what the simulator needs before it begins. */
  prepare(observation: Observation): void {
    if (observation.kind === 'call') {
      const { body, answer, endpoint, status, chatId } = observation
      const isAccepted = isSuccess(status)
      if (chatId !== null && (isAccepted || status === 409)) this.#know(chatId, observation)
      if (endpoint === 'summarize' && chatId !== null && !this.#summarized.has(chatId))
        this.#summarized.set(chatId, isAccepted)
      if (isAccepted && isMap(body) && typeof body.bot_id === 'number') this.#bots.add(body.bot_id)
      if (isAccepted && endpoint === 'availability' && isMap(answer)) this.#bots.add(Number(answer.bot_id))
      return
    }
    const { payload } = observation
    if (isMap(payload.bot) && typeof payload.bot.id === 'number') this.#bots.add(payload.bot.id)
    if (observation.kind === 'event') this.#know(observation.chatId, observation)
  }

  #know(chatId: string, observation: ObservedEvent | Call): void {
    if (!this.#known.has(chatId)) this.#known.set(chatId, observation)
  }

  async replay(observation: Observation): Promise<void> {
    const sim = this.#simulator()
    const { startMs } = observation
    if (startMs > 0) {
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(0, startMs - (this.#nowMs ?? startMs)))
      if (pauseMs >= 1) await sim.clock.advance(`${Math.floor(pauseMs)}ms`)
      this.#nowMs = Math.max(startMs, this.#nowMs ?? 0)
    }
    if (observation.kind === 'call') await this.#call(sim, observation)
    else if (observation.kind === 'event') await this.#event(sim, observation)
    else this.#rememberFailure(observation)
  }

  #simulator(): PlatformSimulator {
    const [id, ...otherBots] = this.#bots
    const more = otherBots.map(bot => `replay-key-${bot}:${bot}`)
    this.#sim ??= createPlatformSimulator({
      clock: 'virtual',
      ...(id === undefined ? {} : { bot: { id } }),
      knobs: { ...this.#knobs, ...(more.length > 0 ? { 'keys.more': more } : {}) },
      webhook: { fetch: () => new Response('') },
    })
    return this.#sim
  }

  /** A chat that the recording names for the first time, with an agent when what tells its state needs one. */
  async #chat(sim: PlatformSimulator, id: string, about: ObservedEvent | Call): Promise<ChatHandle> {
    const openChat = this.#chats.get(id)
    if (openChat !== undefined) return openChat
    const source = about.kind === 'event' ? about.payload : isMap(about.body) ? about.body : {}
    const { bot, chat: shown, bot_id: botId } = source
    const isTaken =
      about.kind === 'event'
        ? source.event === 'MESSAGE FROM USER'
        : ['message', 'end', 'typing_start', 'typing_stop'].includes(about.endpoint ?? '') || about.status === 409
    const chatBot = isMap(bot) ? Number(bot.id) : typeof botId === 'number' ? botId : sim.botId
    const chat = await sim.chat({
      id,
      ...(this.#bots.has(chatBot) ? { botId: chatBot } : {}),
      ...(isMap(shown) ? { language: String(shown.language), source: String(shown.source) } : {}),
      ...(this.#summarized.get(id) ? { history: HISTORY } : {}),
    })
    this.#chats.set(id, chat)
    if (isTaken) {
      if (this.#knobs['start.unrequested'] !== undefined) await chat.press('handover', { async: true })
      await this.#send(sim, 'POST', '/api/v2/handover/start', this.#keyOf(sim, chatBot), {
        body: JSON.stringify({ bot_id: chatBot, chat_id: id, supports_attachment: 'attachments' in source }),
      })
    }
    return chat
  }

  #keyOf(sim: PlatformSimulator, bot: number): string {
    return bot === sim.botId ? sim.apiKey : `replay-key-${bot}`
  }

  async #event(sim: PlatformSimulator, event: ObservedEvent): Promise<void> {
    const { payload, chatId, place } = event
    const name = String(payload.event)
    // A retry is no further action of the user, and typing events follow from calls.
    if (this.#failed?.payload === JSON.stringify(payload)) return
    if (name !== 'REQUESTING TAKEOVER' && name !== 'MESSAGE FROM USER') return
    const chat = await this.#chat(sim, chatId, event)
    const files = Array.isArray(payload.attachments) ? payload.attachments.filter(isMap) : []
    const attach = files.map(file => ({
      name: String(file.name),
      type: String(file.type),
      size_kb: Number(file.size_kb),
    }))
    const text = String(payload.message ?? '')
    const { deliveryId } =
      name === 'REQUESTING TAKEOVER'
        ? await chat.press('handover', { async: true })
        : await chat.says(text === '' && attach.length === 0 ? ' ' : text, { async: true, attach })
    await sim.settled()
    const sent = sim.deliveries.find(delivery => delivery.delivery_id === deliveryId)
    const simulated = sent === undefined ? 'no event' : formOf(JSON.parse(sent.request.body))
    this.#compare(place, `event ${name}`, formOf(payload), simulated)
  }

  #rememberFailure({ status, payload }: Attempt): void {
    this.#failed = status === 200 ? null : { payload: JSON.stringify(payload) }
  }

  async #call(sim: PlatformSimulator, call: Call): Promise<void> {
    const { endpoint, chatId, status, method, body, answer, url, place } = call
    if (endpoint === null || !VALID_METHOD.test(method)) return
    const isAccepted = isSuccess(status)
    // A refused call may be about a chat that does not exist.
    const about = chatId === null ? undefined : this.#known.get(chatId)
    const chat = chatId === null || about === undefined ? undefined : await this.#chat(sim, chatId, about)
    const bot =
      endpoint === 'availability' && isMap(answer) && isAccepted ? Number(answer.bot_id) : (chat?.botId ?? sim.botId)
    const isHandoverKey = endpoint !== 'chat' || status === 403
    const key =
      status === 401 ? 'wrong-key' : isHandoverKey || bot !== sim.botId ? this.#keyOf(sim, bot) : sim.botApiKey
    const text = call.text ?? (body === null ? '' : JSON.stringify(body))
    const path = url.replace(/^https?:\/\/[^/]+/i, '').replace(/^.*(?=\/api\/v)/, '')
    const reply = await this.#send(sim, method, path, key, { headers: call.headers, body: text })
    if (status === 0 || status >= 500 || status === 429) return
    const json = formOf(reply.json)
    this.#compare(
      place,
      `answer of ${endpoint}`,
      `${status} ${isAccepted ? formOf(answer) : ''}`,
      `${reply.status} ${reply.ok ? json : ''}`,
    )
  }

  async #send(
    sim: PlatformSimulator,
    method: string,
    path: string,
    key: string,
    { headers = {}, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body: string },
  ) {
    const isSent = ([name, value]: [string, string]) =>
      VALID_NAME.test(name) && VALID_VALUE.test(value) && !OWN_HEADERS.test(name)
    const sent = new Headers(Object.entries(headers).filter(isSent))
    if (Object.keys(headers).length === 0) sent.set('content-type', 'application/json')
    sent.set('authorization', `Bearer ${key}`)
    const bytes = method === 'GET' || method === 'HEAD' ? null : new TextEncoder().encode(body)
    const request = new Request(new URL(path, sim.baseUrl), { method, headers: sent, body: bytes })
    const response = await sim.fetch(request)
    const { status, ok } = response
    await sim.settled()
    return { status, ok, json: await response.json().catch(() => null) }
  }

  #compare(place: Place, what: string, recorded: string, simulated: string): void {
    this.#compared++
    if (recorded === simulated) return
    this.#count++
    if (this.#differences.length < MAX_DIFFERENCES)
      this.#differences.push({ place, what, recorded: recorded.trim(), simulated: simulated.trim() })
  }

  async end(): Promise<ReplayResult> {
    await this.#sim?.close()
    return { compared: this.#compared, differences: this.#differences, differenceCount: this.#count }
  }
}

/** The names of fields in two levels, and the event: what is compared. Values and lists depend on what the recording does not show. */
function formOf(value: unknown): string {
  if (!isMap(value)) return value === null ? 'nothing' : typeof value
  const fields = Object.entries(value).map(([name, field]) => {
    if (name === 'event') return `event ${String(field)}`
    return isMap(field) && name !== 'context' ? `${name} { ${Object.keys(field).sort().join(', ')} }` : name
  })
  return `{ ${fields.sort().join(', ')} }`
}

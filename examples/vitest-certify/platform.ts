/** Calls the platform's API in order for each chat, and repeats what the platform could not answer. */
export interface Platform {
  readonly url: string
  readonly key: string
  readonly botId: number
  readonly fetch: (request: Request) => Promise<Response>
}

const ATTEMPTS = 5
const PAUSE_MS = 50

export class Outbox {
  readonly #platform: Platform
  /** The last call of each chat. */
  readonly #last = new Map<string, Promise<void>>()

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Sends after all earlier calls about the chat. */
  send(chatId: string, endpoint: string, body: object): void {
    const call = { bot_id: this.#platform.botId, chat_id: chatId, ...body }
    this.#queue(chatId, endpoint, call)
  }

  availability(availability: 'OPEN' | 'CLOSED'): void {
    this.#queue('availability', 'availability', { availability, reason: 'AGENT_AVAILABILITY' })
  }

  #queue(queue: string, endpoint: string, body: object): void {
    const before = this.#last.get(queue) ?? Promise.resolve()
    const call = before.then(() => this.#repeat(endpoint, body)).catch(console.error)
    this.#last.set(queue, call)
  }

  async #repeat(endpoint: string, body: object): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const response = await this.#post(endpoint, body).catch(() => null)
      if (response?.ok) return
      if (response !== null && response.status < 500 && response.status !== 429)
        throw new Error(`${endpoint}: ${response.status} ${await response.text()}`)
      await pause(retryAfterMs(response) ?? PAUSE_MS * 2 ** attempt)
    }
    throw new Error(`${endpoint}: no success in ${ATTEMPTS} attempts`)
  }

  #post(endpoint: string, body: object): Promise<Response> {
    const { url, key, fetch } = this.#platform
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return fetch(
      new Request(`${url}/api/v2/handover/${endpoint}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    )
  }
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

function retryAfterMs(response: Response | null): number | null {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : null
}

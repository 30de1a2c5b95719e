/** Records what passes the proxy as a simulator records its own: entries with their causes, and chats for the page. */
import { isSuccess } from '../../base/http-status.ts'
import { isMap, jsonOr } from '../../base/objects.ts'
import { hmac, randomToken, sameSecret, sha256 } from '../../base/runtime/node.ts'
import { isWebhookEvent } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../platform/contract/events.ts'
import type { ApiContent, EntryContent, NoteContent, UserContent } from '../../platform/journal/entry.ts'
import { addMessage, createChat, evictMessages, userName } from '../../platform/rules/chats.ts'
import { ensureBots } from '../../platform/rules/platform.ts'
import { type Chat, createTransaction, sizeOfChat, type Transaction } from '../../platform/rules/state.ts'
import type { Core } from '../../platform/simulator/core.ts'
import { signingHeaders } from '../../platform/webhooks/request.ts'
import { failureText } from '../../platform/wording/failures.ts'
import { appendMasked, type Mask, type Masked, type Signed } from './masked.ts'
import { type ExchangeOutcome, headerIn, type PassedRequest, type RawHeaders } from './relay.ts'

export interface Observer {
  /** Returns the `seq` of the call. */
  call(request: PassedRequest & { readonly target: string }, outcome: ExchangeOutcome): number
  /** The function it returns takes the outcome, and returns the `seq` of the attempt. */
  delivery(request: PassedRequest): (outcome: ExchangeOutcome) => number
  note(note: Masked<NoteContent>, cause: number | null): void
  /** The key of the user that made the signature of this delivery. */
  keyThatSigned(headers: RawHeaders, body: Buffer): string | undefined
}

export interface ObserverPorts {
  readonly core: Core
  readonly mask: Mask
  readonly webhookUrl: URL
  /** Handover keys of the user; none when signatures are not checked. */
  readonly keys: readonly string[]
}

/** An event that was not acknowledged, so that the same bytes are another attempt. */
interface FailedEvent {
  readonly seq: number | null
  readonly id: string
  readonly attempts: number
}
const MAX_FAILED_EVENTS = 1_000

/** The oldest is forgotten when there are more: the page shows it no longer, and the journal has its entries. */
const MAX_CHATS = 10_000

type ObservedChat = Partial<Pick<Chat, 'botId' | 'userId' | 'language' | 'source'>> & { readonly botName?: string }

/** What is not known of a user, and of a chat that was there before. */
const UNKNOWN_CHAT = {
  ...{ language: 'en', source: 'unknown', context: {}, labels: [], history: [] },
  persona: { firstName: null, lastName: null, fullName: null, gender: null },
}

export function createObserver({ core, mask, webhookUrl, keys }: ObserverPorts): Observer {
  const { journal, platform, committer } = core
  const { lastEvent } = committer
  const failedEvents = new Map<string, FailedEvent>()
  /** The latest accepted typing call of each chat, which the next typing event of the chat echoes. */
  const typingCalls = new Map<string, number>()
  /** Chats whose last handover was seen to end. */
  const ended = new Set<string>()
  const run = randomToken()
  let deliveries = 0

  const append = (content: Masked<EntryContent>, cause: number | null = null): number =>
    appendMasked(journal, content, cause).seq
  /** Appends what follows from masked values. */
  const derive = (source: Masked<unknown>, content: EntryContent, cause: number | null = null): number =>
    append(
      source.map(() => content),
      cause,
    )

  /** Finds the chat of masked values, or creates it. */
  function chatFor(source: Masked<unknown>, id: string, about: ObservedChat = {}): Chat {
    const { chats, bots, memory } = platform.state
    const existing = chats.get(id)
    if (existing !== undefined) return existing
    for (const oldest of chats.values()) {
      if (chats.size < MAX_CHATS) break
      chats.delete(oldest.id)
      ended.delete(oldest.id)
      memory.add(-sizeOfChat(oldest))
    }
    const { bot } = core.identity
    const { botId = bot.id, botName = bots.get(botId)?.name ?? bot.name, ...chatDetails } = about
    ensureBots(platform, [{ id: botId, name: botName, organizationId: bot.organizationId }])
    const transaction = createTransaction()
    const chat = createChat(platform, { ...UNKNOWN_CHAT, ...chatDetails, id, botId }, transaction)
    for (const effect of transaction.effects) derive(source, effect)
    return chat
  }

  /** Appends the event of a first delivery, and what the user did to cause it. */
  function recordEvent(delivery: Masked<unknown>, payload: WebhookEvent, deliveryId: string): number {
    const { event } = payload
    const chatId = 'chat' in payload ? payload.chat.id : payload.chat_id
    let cause: number | null = null
    if ('chat' in payload) {
      const { bot, chat: about, user } = payload
      const chat = chatFor(delivery, chatId, {
        ...{ botId: bot.id, botName: bot.name, userId: user.id, language: about.language, source: about.source },
      })
      const act: UserContent =
        'message' in payload
          ? {
              ...{ kind: 'user', chat_id: chatId, action: 'message', text: payload.message },
              message_id: addMessage(platform, chat, { from: 'user', name: userName(chat), text: payload.message }).id,
              ...(payload.attachments?.length && { attachments: payload.attachments }),
            }
          : { kind: 'user', chat_id: chatId, action: 'press', button: 'handover', message_id: null }
      if (event === 'REQUESTING TAKEOVER') {
        chat.requestedAt = chat.messages.length
        if (chat.status === 'bot') chat.status = 'pending'
      }
      cause = derive(delivery, act)
    } else cause = typingCalls.get(chatId) ?? null
    const content = { kind: 'event', chat_id: chatId, event, delivery_id: deliveryId, payload, observed: true } as const
    const seq = derive(delivery, content, cause)
    lastEvent.set(chatId, seq)
    return seq
  }

  /** Applies a call that the platform accepted. */
  function applyCall(masked: Masked<ApiContent>): Transaction {
    const { endpoint, chat_id: id, request, response } = masked.content
    const transaction = createTransaction()
    const body = isMap(request.body) ? request.body : {}
    if (id === undefined || endpoint === null || endpoint === 'availability') return transaction
    const botId = typeof body.bot_id === 'number' ? body.bot_id : undefined
    const chat = chatFor(masked, id, botId === undefined ? {} : { botId })
    const sender = isMap(body.sender) ? body.sender : null
    const by = typeof sender?.name === 'string' ? sender.name : null
    const note = (name: string) => transaction.effects.push({ kind: 'note', chat_id: id, note: name, by })
    if (endpoint === 'start') {
      note(chat.status === 'agent' ? 'takeover_replaced' : 'taken_over')
      ended.delete(id)
      const supportsAttachment = body.supports_attachment === true
      chat.takeover = { since: platform.stamp(), sender, supportsAttachment, agentLanguage: null }
      chat.status = 'agent'
    } else if (endpoint === 'end') {
      // The handover may have begun before the proxy; a second end ends nothing.
      if (!ended.has(id)) note('handed_back')
      ended.add(id)
      Object.assign(chat, { status: 'bot', takeover: null, typing: false })
    } else if (endpoint === 'message' && typeof body.message === 'string') {
      const sentId = isMap(response) ? response.chatmessage_id : undefined
      const messageId = typeof sentId === 'string' ? sentId : undefined
      const buttons = Array.isArray(body.buttons) ? body.buttons : []
      const name = by ?? chat.takeover?.sender?.name ?? ''
      addMessage(platform, chat, { id: messageId, from: 'agent', name, text: body.message, buttons })
    } else if (endpoint === 'typing_start' || endpoint === 'typing_stop') chat.typing = endpoint === 'typing_start'
    return transaction
  }

  function evict(source: Masked<unknown>): void {
    const evicted = evictMessages(platform)
    if (evicted !== null) derive(source, evicted)
  }

  function keyThatSigned(headers: RawHeaders, body: Buffer): string | undefined {
    const { knobs } = platform
    const name = knobs['webhook.signatureHeader']
    const given = headerIn(headers, name.toLowerCase()) ?? ''
    const text = body.toString('utf8')
    return keys.find(key => sameSecret(signingHeaders(key, text, '', knobs)[name] ?? '', given))
  }

  /** Checks the signature of the bytes as they came. A real platform may have it in another header, and in another form. */
  function signedBy({ headers, body }: PassedRequest): Signed {
    const { knobs } = platform
    const header = knobs['webhook.signatureHeader'].toLowerCase()
    const isMissing = headerIn(headers, header) === undefined
    // The address to which the platform sends is not known here.
    if (keys.length === 0 || body.whole === null || knobs['webhook.signedContent'] !== 'body')
      return { header, status: isMissing ? 'missing' : 'not checked' }
    if (!isMissing) return { header, status: keyThatSigned(headers, body.whole) === undefined ? 'invalid' : 'valid' }
    const signingHeader = headerThatSigns(headers, body.whole.toString('utf8'))
    return signingHeader === undefined ? { header, status: 'missing' } : { header: signingHeader, status: 'valid' }
  }

  function headerThatSigns(headers: RawHeaders, text: string): string | undefined {
    const digests = new Set<string>()
    for (const key of keys)
      for (const hash of ['sha256', 'sha1', 'sha512'] as const)
        for (const encoding of ['base64', 'hex'] as const) digests.add(hmac(hash, key, text, encoding))
    const at = headers.findIndex((value, index) => index % 2 === 1 && digests.has(value.replace(/^sha\d+=/i, '')))
    return headers[at - 1]?.toLowerCase()
  }

  return {
    call(request, outcome) {
      const masked = mask.call(request, outcome)
      const { chat_id: id, endpoint, status } = masked.content
      const isAccepted = isSuccess(status)
      const { effects } = isAccepted ? applyCall(masked) : createTransaction()
      const follows = lastEvent.get(id ?? '') ?? null
      const seq = append(masked.map(content => ({ ...content, follows })))
      if (isAccepted && endpoint?.startsWith('typing_')) typingCalls.set(id ?? '', seq)
      for (const effect of effects) derive(masked, effect, seq)
      evict(masked)
      const { failure } = outcome
      if (failure !== null) append(mask.note('call_failed', { code: failure.code }, failureText(failure)), seq)
      return seq
    },

    delivery(request) {
      const id = platform.id('uuid', `delivery ${++deliveries} of ${run}`)
      const masked = mask.delivery(request, { url: webhookUrl.href, signed: signedBy(request), id })
      const { delivery_id: ownId, event, request: sent } = masked.content
      const form = [ownId === id ? '' : ownId, sent.truncated_from?.sha256, sent.body].join(' ')
      const key = sha256(new TextEncoder().encode(form))
      const earlier = failedEvents.get(key)
      failedEvents.delete(key)
      const payload = earlier === undefined ? parseEvent(event, sent.body) : null
      const seq = earlier?.seq ?? (payload === null ? null : recordEvent(masked, payload, ownId))
      const facts = { delivery_id: earlier?.id ?? ownId, attempt: (earlier?.attempts ?? 0) + 1 }
      evict(masked)
      return outcome => {
        const { content } = mask.withOutcome(masked, request, outcome)
        const attemptSeq = derive(masked, { ...content, ...facts }, seq)
        if (content.outcome === 'delivered') return attemptSeq
        failedEvents.set(key, { seq, id: facts.delivery_id, attempts: facts.attempt })
        for (const oldest of failedEvents.keys()) if (failedEvents.size > MAX_FAILED_EVENTS) failedEvents.delete(oldest)
        return attemptSeq
      }
    },
    note: append,
    keyThatSigned,
  }
}

/** The payload of an event that the platform's description has. */
function parseEvent(event: string, body: string): WebhookEvent | null {
  if (!isWebhookEvent(event)) return null
  const payload = jsonOr(body, null)
  return WEBHOOK_EVENTS[event].schema.safeParse(payload).success ? (payload as WebhookEvent) : null
}

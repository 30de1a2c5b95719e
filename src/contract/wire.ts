/**
 * The wire in plain TypeScript, for declarations that are published: they name no schema library. A test holds them
 * against the schemas.
 */
export interface SenderFields {
  name?: string | undefined
  avatar?: string | undefined
  language_codes?: string[] | undefined
}

export interface ButtonFields {
  [field: string]: unknown
  label?: string | undefined
  url?: string | undefined
  handover?: boolean | undefined
}

export interface AttachmentFields {
  name: string
  url: string
  type: string
  size_kb: number
}

interface ChatCall {
  bot_id: number
  chat_id: string
}

export interface MessageFields {
  id: string
  created: string
  from_bot: boolean
  name: string
  message: string
  buttons: ButtonFields[]
  exchange_id: string | null
  exchange_type: string | null
}

export interface ChatFields {
  [field: string]: unknown
  active: boolean
  bot_id: number
  organization_id: number
  bot_name: string
  comments: unknown[]
  context: Record<string, unknown>
  created: string
  first_name: string | null
  full_name: string | null
  gender: string | null
  id: string
  labels: string[]
  language_code: string
  last_name: string | null
  recipient_id: string
  source: string
  state: string
  taken_over: string | boolean | null
  updated: string
  messages: MessageFields[]
}

/** What the body of each call holds; `chat` is a GET and has none. */
export interface CallBodies {
  transcript: ChatCall
  summarize: ChatCall
  availability: {
    availability: 'OPEN' | 'CLOSED'
    queue?: string | undefined
    reason?: 'AGENT_AVAILABILITY' | 'BUSINESS_HOURS' | 'OTHER' | undefined
  }
  start: ChatCall & { sender?: SenderFields | undefined; supports_attachment?: boolean | undefined }
  end: ChatCall & { sender?: SenderFields | undefined }
  message: ChatCall & {
    message: string
    sender?: SenderFields | undefined
    buttons?: ButtonFields[] | undefined
  }
  typing_start: ChatCall & { timeout?: number | undefined }
  typing_stop: ChatCall
  chat: Record<string, never>
}

interface Confirmation<Event extends string> {
  event: Event
  chat_id: string
  chatmessage_id: string
}

interface TypingAnswer {
  event?: string | undefined
  chat_id?: string | undefined
}

/** What each call is answered with when all is well. */
export interface CallResponses {
  transcript: {
    event: 'TRANSCRIPT'
    chat: { [field: string]: unknown; id: string; bot_id: number; messages: MessageFields[] }
  }
  summarize: { event: 'SUMMARIZED'; chat_id: string; summary: string }
  availability: {
    event: 'HANDOVER AVAILABILITY UPDATED'
    bot_id: string
    queue: string
    availability: 'OPEN' | 'CLOSED'
    updated_at: string
  }
  start: Confirmation<'TAKEOVER STARTED'>
  end: Confirmation<'TAKEOVER ENDED'>
  message: Confirmation<'MESSAGE SENT TO USER'>
  typing_start: TypingAnswer
  typing_stop: TypingAnswer
  chat: { chat: ChatFields }
}

interface EventFields {
  bot: { id: number; name: string }
  chat: { _links: { self: string }; id: string; language: string; source: string }
  user: { id: string }
}

/** What each webhook event holds. */
export interface EventPayloads {
  'REQUESTING TAKEOVER': EventFields & { event: 'REQUESTING TAKEOVER' }
  'MESSAGE FROM USER': EventFields & {
    event: 'MESSAGE FROM USER'
    message: string
    attachments?: AttachmentFields[] | undefined
  }
  'AGENT TYPING START': { event: 'AGENT TYPING START'; chat_id: string }
  'AGENT TYPING STOP': { event: 'AGENT TYPING STOP'; chat_id: string }
}

/** A call by its name. */
export type CallId = keyof CallBodies

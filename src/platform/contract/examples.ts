/** Shows one coherent conversation as examples of every request, response and event. */
import type { EndpointId } from './endpoint-routes.ts'
import type { WebhookEventName } from './event-names.ts'

const bot_id = 1042
const chat_id = '6f1d9c3e-58a2-4b07-9c41-2f6a0d7be513'
const chatmessage_id = '65f2c0a9b1d34e5f60718293'
const about = { bot_id, chat_id }
const sender = { name: 'Kari Lund', avatar: 'https://desk.example.test/avatars/kari.png' }

const messages = [
  {
    id: '65f2c0a9b1d34e5f60718290',
    created: '2024-01-01T09:00:00.000002Z',
    from_bot: false,
    name: 'Ada Berg',
    message: 'My parcel has not arrived, can you help me?',
    buttons: [],
    exchange_id: null,
    exchange_type: null,
  },
  {
    id: '65f2c0a9b1d34e5f60718291',
    created: '2024-01-01T09:00:00.000003Z',
    from_bot: true,
    name: 'Nora',
    message: 'I can look it up, or you can talk to us.',
    buttons: [
      {
        button_type: 'quick_reply',
        label: 'Talk to us',
        value: 'Talk to us',
        index: 0,
        is_active: true,
        hide_outside_business_hours: false,
        language_code: 'en',
      },
    ],
    exchange_id: 'b0b7c8f4-3f5d-4c8e-a0f5-7f1c9c3d2e10',
    exchange_type: 'usersays',
  },
]

const record = {
  active: true,
  bot_id,
  organization_id: 7,
  bot_name: 'Nora',
  comments: [],
  context: { page_url: 'https://www.example.test/delivery' },
  created: '2024-01-01T09:00:00.000001Z',
  first_name: 'Ada',
  full_name: 'Ada Berg',
  gender: 'female',
  id: chat_id,
  labels: ['delivery'],
  language_code: 'en',
  last_name: 'Berg',
  recipient_id: '65f2c0a9b1d34e5f60718200',
  source: 'chatbubble',
  state: 'chatting',
  taken_over: null,
  updated: '2024-01-01T09:00:00.000003Z',
  messages,
}

interface Example {
  readonly request: unknown
  readonly response: unknown
}

export const ENDPOINT_EXAMPLES: Record<EndpointId, Example> = {
  transcript: { request: about, response: { event: 'TRANSCRIPT', chat: record } },
  summarize: {
    request: about,
    response: { event: 'SUMMARIZED', chat_id, summary: 'Ada asks where her parcel is.' },
  },
  availability: {
    request: { availability: 'CLOSED', queue: 'DEFAULT', reason: 'BUSINESS_HOURS' },
    response: {
      event: 'HANDOVER AVAILABILITY UPDATED',
      bot_id: String(bot_id),
      queue: 'DEFAULT',
      availability: 'CLOSED',
      updated_at: '2024-01-01T09:00:00.000004Z',
    },
  },
  start: {
    request: { ...about, sender: { ...sender, language_codes: ['nb', 'en'] }, supports_attachment: true },
    response: { event: 'TAKEOVER STARTED', chat_id, chatmessage_id },
  },
  end: { request: { ...about, sender }, response: { event: 'TAKEOVER ENDED', chat_id, chatmessage_id } },
  message: {
    request: {
      ...about,
      message: 'Hello Ada, I have found your parcel.',
      sender,
      buttons: [{ button_type: 'link', label: 'Track it', value: 'https://www.example.test/track' }],
    },
    response: { event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id },
  },
  typing_start: { request: { ...about, timeout: 5000 }, response: {} },
  typing_stop: { request: about, response: {} },
  chat: { request: null, response: { chat: record } },
}

const self = `https://bot.example.test/api/v1/chats/${chat_id}`
const origin = {
  bot: { id: bot_id, name: 'Nora' },
  chat: { _links: { self }, id: chat_id, language: 'en', source: 'web' },
  user: { id: '65f2c0a9b1d34e5f60718200' },
}
const attachment = {
  name: 'receipt.pdf',
  url: 'https://bot.example.test/files/65f2c0a9b1d34e5f60718299/receipt.pdf',
  type: 'application/pdf',
  size_kb: 87,
}

export const EVENT_EXAMPLES: Record<WebhookEventName, unknown> = {
  'REQUESTING TAKEOVER': { event: 'REQUESTING TAKEOVER', ...origin },
  'MESSAGE FROM USER': {
    event: 'MESSAGE FROM USER',
    ...origin,
    message: 'Here is my receipt.',
    attachments: [attachment],
  },
  'AGENT TYPING START': { event: 'AGENT TYPING START', chat_id },
  'AGENT TYPING STOP': { event: 'AGENT TYPING STOP', chat_id },
}

/** A small intermediary, shown in docs/how-to/unit-tests.md. */

import type { WebhookEvent } from '../../../src/index.ts'

export interface Platform {
  readonly url: string
  readonly key: string
  readonly botId: number
  readonly fetch: (request: Request) => Promise<Response>
}

export function createApp(platform: Platform) {
  const call = (path: string, chatId: string, more: object = {}) =>
    platform.fetch(
      new Request(`${platform.url}/api/v2/handover/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ bot_id: platform.botId, chat_id: chatId, ...more }),
      }),
    )
  const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
  const inbox: { text: string }[] = []

  return {
    inbox,
    async webhook(request: Request): Promise<Response> {
      const event = (await request.json()) as WebhookEvent
      if (event.event === 'REQUESTING TAKEOVER')
        void call('start', event.chat.id, { sender, supports_attachment: true })
      if (event.event === 'MESSAGE FROM USER') inbox.push({ text: event.message })
      return new Response('ok')
    },
    reply: (chatId: string, text: string) => call('message/', chatId, { message: text, sender }),
    close: (chatId: string) => call('end', chatId, { sender }),
  }
}

/** The Lambda functions that docs/how-to/function-platforms.md shows. */

import { verify } from '../../../src/platform/signature/index.ts'

interface LambdaEvent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: boolean
}

export interface Queue {
  send(text: string): Promise<void>
}

const { BOT_URL = 'https://bot.example.test', BOT_KEY = 'sim-handover-key' } = process.env
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

/** Receives the events: stores each, and then answers. */
export const createReceiver = (queue: Queue) => async (event: LambdaEvent) => {
  const body = Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8')
  if (!(await verify(body, event.headers, BOT_KEY))) return { statusCode: 401 }
  await queue.send(body.toString())
  return { statusCode: 200 }
}

/** Another function, which the queue calls, and calls again when it throws. */
export async function handleQueued(text: string): Promise<void> {
  const { event, bot, chat } = JSON.parse(text)
  if (event !== 'REQUESTING TAKEOVER') return
  const response = await fetch(`${BOT_URL}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: bot.id, chat_id: chat.id, sender }),
  })
  if (!response.ok) throw new Error(`start was answered with ${response.status}`)
}

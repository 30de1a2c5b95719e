/** Uses the package with msw, vitest and zod installed. */
import { createSimulator } from 'handover-sim'
import { MessageRequest, WebhookEvent } from 'handover-sim/contract'
import { handlers } from 'handover-sim/msw'
import { setupServer } from 'msw/node'
import { expect } from 'vitest'
import 'handover-sim/vitest'
import * as z from 'zod'

const sim = createSimulator()
const server = setupServer(...handlers(sim))
server.listen({ onUnhandledRequest: 'error' })

const Row = z.object({ event: WebhookEvent, answer: z.optional(MessageRequest) })
const row: z.infer<typeof Row> = { event: { event: 'AGENT TYPING START', chat_id: 'c1' } }
const text: string | undefined = row.answer?.message

export async function use(): Promise<string | undefined> {
  const ada = await sim.chat()
  expect(ada).toHaveReceived('start', { sender: { name: 'Anna' } }, { times: 1 })
  expect(sim).not.toHaveDelivered('MESSAGE FROM USER', { message: 'bye' })
  // @ts-expect-error no such call
  expect(ada).toHaveReceived('begin')
  return text
}

/** The settings of zod are shared by every copy of it in the process: a user's own must not change our messages. */
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { layerOf } from '../../src/config/schema.ts'
import { parseSource } from '../../src/files/document.ts'
import { createPlatformSimulator } from '../../src/simulator/simulator.ts'

function speakGerman(): void {
  const before = z.config().localeError
  z.config(z.locales.de())
  onTestFinished(() => void z.config({ localeError: before }))
}

const failureOf = (text: string): string => {
  try {
    layerOf('c.yaml', parseSource('c.yaml', text, false))
    return ''
  } catch (error) {
    return (error as Error).message.split('\n')[0]!
  }
}

it('a config file', () => {
  speakGerman()
  expect(failureOf('port: "80"')).toBe('c.yaml:1:7: port: must be an integer, got the string "80".')
  expect(failureOf('bot: []')).toBe('c.yaml:1:6: bot: must be an object, got an array of 0.')
})

it('a call, a fault, a snapshot', async () => {
  speakGerman()
  const sim = createPlatformSimulator()
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: 'x', chat_id: 'c' })
  const answer = await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/end`, { method: 'POST', headers, body }))
  expect(((await answer.json()) as { error: { message: string } }).error.message).toBe(
    'bot_id must be an integer, got the string "x".',
  )
  expect(() => sim.faults.add({ on: 'api', times: 'x' } as never)).toThrow(
    /times must be an integer, got the string "x"/,
  )
})

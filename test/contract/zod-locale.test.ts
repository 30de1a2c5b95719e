/** Checks that a zod locale of the user changes no message: all copies of zod in a process share their settings. */

import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { parseSource } from '../../src/base/files/document.ts'
import { createSimulator } from '../../src/index.ts'
import { layerOf } from '../../src/server/config/schema.ts'

function useGermanLocale(): void {
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

it('a German zod locale does not change the errors of a config file', () => {
  useGermanLocale()
  expect(failureOf('port: "80"')).toBe(
    'c.yaml:1:7: port: must be a whole number from 0 to 65535 (0 takes any free port), got the string "80".',
  )
  expect(failureOf('bot: { replies: [{ match: [], text: x }] }')).toBe(
    'c.yaml:1:27: bot.replies[0].match: must be a string, got an array of 0.',
  )
  expect(failureOf('bot: []')).toBe('c.yaml:1:6: bot: must be an object, got an array of 0.')
})

it('a German zod locale does not change the errors of a call and of a fault', async () => {
  useGermanLocale()
  const sim = createSimulator()
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

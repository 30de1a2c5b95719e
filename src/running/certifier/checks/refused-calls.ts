/** FLT-02: the platform refuses calls for a while. */
import type { DriverCall } from '../../agent-driver/driver.ts'
import { type ChatCall, type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckContext } from '../context.ts'
import {
  FIRST_MESSAGE,
  reportRepeats,
  SECOND_MESSAGE,
  shownTo,
  takenOver,
  textInCall,
  writeBoth,
} from './shown-messages.ts'

export async function refusedForAWhile(check: CheckContext): Promise<void> {
  const unavailable = { status: 503 }
  const limited = { status: 429, headers: { 'Retry-After': '2' } }
  await Promise.all([
    startRefused(check, '503 to start', { respond: unavailable, times: 2 }),
    startRefused(check, '429 to start', { respond: limited, times: 1 }),
    messageRefused(check, '503 to message', { respond: unavailable, times: 2 }),
    messageRefused(check, '429 to message', { respond: limited, times: 1 }),
  ])
}

interface Refusal {
  readonly respond: { readonly status: number; readonly headers?: Record<string, string> }
  readonly times: number
}

async function startRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const chat = await check.chat(name)
  expectAcknowledged(check, await chat.press())
  check.sim.faults.add({ on: { api: 'start' }, chat_id: chat.id, ...refusal })
  const accepted = await chat.tryAgent('accept')
  const isStarted = () => chat.calls('start').some(({ status }) => status === 200)
  const hasStarted = await check.until(isStarted, check.limits.retryMs)
  const calls = chat.calls('start')
  if (!expectRefused(check, 'start', calls, accepted)) return
  if (!hasStarted) reportGivenUp(check, 'start', refusal, calls)
  else reportEarly(check, chat, 'start')
}

async function messageRefused(check: CheckContext, name: string, refusal: Refusal): Promise<void> {
  const chat = await takenOver(check, name)
  check.sim.faults.add({ on: { api: 'message' }, chat_id: chat.id, ...refusal })
  const written = await writeBoth(check, chat)
  const isShown = () => [FIRST_MESSAGE, SECOND_MESSAGE].every(text => shownTo(chat, text).length > 0)
  const areShown = await check.until(isShown, check.limits.retryMs)
  if (!expectRefused(check, 'message', chat.calls('message'), written)) return
  if (!areShown) return reportMissing(check, chat, refusal)
  reportEarly(check, chat, 'message')
  const [first, second] = [shownTo(chat, FIRST_MESSAGE)[0]!, shownTo(chat, SECOND_MESSAGE)[0]!]
  if (second.seq < first.seq) check.report('SHOULD', 'messages-reordered', { fault: name }, [second, first])
  await reportRepeats(check, chat, { text: FIRST_MESSAGE, fault: 'refused', atMost: 1 })
}

type Endpoint = 'start' | 'message'

/** False: nothing is known, because the call that the platform would have refused was not made. */
function expectRefused(
  check: CheckContext,
  endpoint: Endpoint,
  calls: readonly ChatCall[],
  { verb, failure }: DriverCall,
) {
  if (calls.some(({ faults }) => faults !== undefined)) return true
  check.inconclusive({ code: 'call_not_made', endpoint, verb, failure: failure ?? null })
  return false
}

/** The second message was not refused itself. */
function reportMissing(check: CheckContext, chat: CheckChat, refusal: Refusal): void {
  const withText = (text: string) => chat.calls('message').filter(call => textInCall(call) === text)
  if (shownTo(chat, FIRST_MESSAGE).length === 0)
    return reportGivenUp(check, 'message', refusal, withText(FIRST_MESSAGE))
  const details = { chat: chat.name, text: SECOND_MESSAGE, fault: 'refused', withinMs: check.limits.retryMs } as const
  check.report('SHOULD', 'message-missing', details, withText(SECOND_MESSAGE))
}

function reportGivenUp(
  check: CheckContext,
  endpoint: Endpoint,
  { respond: { status } }: Refusal,
  calls: readonly ChatCall[],
): void {
  const details = { endpoint, status, calls: calls.length, withinMs: check.limits.retryMs }
  check.report('SHOULD', 'call-given-up', details, calls)
}

const RETRY_AFTER_MS = 2_000
/** Two clocks differ, and entries are written after the answer. */
const TOLERANCE_MS = 50

function reportEarly(check: CheckContext, chat: CheckChat, endpoint: Endpoint): void {
  const calls = chat.calls(endpoint)
  for (const [index, refused] of calls.entries()) {
    const next = calls[index + 1]
    if (refused.status !== 429 || next === undefined) continue
    const waitedMs = Math.round(next.at_ms - refused.at_ms)
    if (waitedMs < RETRY_AFTER_MS - TOLERANCE_MS)
      check.report('SHOULD', 'retry-too-early', { endpoint, waitedMs, retryAfterMs: RETRY_AFTER_MS }, [refused, next])
  }
}

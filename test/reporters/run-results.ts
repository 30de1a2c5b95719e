/** Plays made by hand: what a runner would hand to the reports. */

import type { Outcome, RunResult, ScenarioResult, StepVerdict } from '../../src/evaluation/evaluator/verdict.ts'
import type { Failure, StepRef } from '../../src/evaluation/finding.ts'
import type { DriverCall } from '../../src/evaluation/scenario/run-events.ts'
import type { Entry, EntryContent, EntryOf } from '../../src/platform/journal/entry.ts'

export const CHATS = { main: 'c394b674-c865-4926-9541-db8f3c7cb8b6', bo: '11111111-2222-4333-8444-555555555555' }

/** Entries in the order they are written, each at a moment of the wall. */
export class Journal {
  readonly entries: Entry[] = []
  private nowMs = 1000
  private readonly firstSeq: number

  constructor(firstSeq = 1) {
    this.firstSeq = firstSeq
  }

  at(ms: number): this {
    this.nowMs = 1000 + ms
    return this
  }

  add(content: object, cause: number | null = null): number {
    const seq = this.firstSeq + this.entries.length
    const frame = { v: 1, seq, time: '2024-01-01T09:00:00.000000Z', at_ms: this.nowMs }
    this.entries.push({ cause, ...(content as EntryContent), ...frame } as Entry)
    return seq
  }

  note(note: string, detail: object = {}): number {
    return this.add({ kind: 'note', note, ...detail })
  }

  started(step: number, label: string): number {
    return this.note('step_started', { step, label, verb: label.split(' ')[0] })
  }

  ended(step: number, detail: object = {}): number {
    return this.note('step_ended', { step, ...detail })
  }

  press(chat_id = CHATS.main): number {
    return this.add({ kind: 'user', chat_id, action: 'press', button: 'handover', message_id: null })
  }

  user(text: string, chat_id = CHATS.main, more: Partial<EntryOf<'user'>> = {}): number {
    return this.add({ kind: 'user', chat_id, action: 'message', text, message_id: 'm1', ...more })
  }

  event(name: string, delivery_id: string, cause: number | null = null, message?: string, chat_id = CHATS.main) {
    const payload = { event: name, ...(message === undefined ? {} : { message }) }
    return this.add({ kind: 'event', chat_id, event: name, delivery_id, payload }, cause)
  }

  delivery(delivery_id: string, more: Partial<EntryOf<'delivery'>> = {}): number {
    const attempt = { kind: 'delivery', chat_id: CHATS.main, delivery_id, event: 'MESSAGE FROM USER', attempt: 1 }
    const sent = { url: 'http://127.0.0.1:3000/webhook', request: { headers: {}, body: '{}' } }
    const response = { headers: {}, body: 'ok', truncated: false }
    return this.add({ ...attempt, outcome: 'delivered', ...sent, status: 200, response, duration_ms: 31, ...more })
  }

  call(endpoint: string | null, body: object = {}, more: Partial<EntryOf<'api'>> = {}): number {
    const where = { method: 'POST', path: `/api/v2/handover/${endpoint}`, alias: 'handover', auth: 'valid' }
    const headers = { authorization: 'Bearer ***', 'user-agent': 'desk-bridge/2.1' }
    const answer = { status: 200, response: { event: ANSWERS[endpoint ?? ''] }, duration_ms: 1.2 }
    return this.add({
      ...{ kind: 'api', chat_id: CHATS.main, endpoint, ...where, request: { headers, body, bytes: 70 } },
      ...{ ...answer, findings: [], unspecified: {}, follows: null },
      ...more,
    })
  }

  driver(verb: string, more: Partial<DriverCall> = {}): number {
    const call = { kind: 'driver', chat_id: CHATS.main, verb, how: `POST http://127.0.0.1:3100/${verb}` }
    return this.add({ ...call, outcome: 'ok', status: 204, duration_ms: 4, ...more })
  }
}

const ANSWERS: Record<string, string> = {
  start: 'TAKEOVER STARTED',
  end: 'TAKEOVER ENDED',
  message: 'MESSAGE SENT TO USER',
}

export const step = (number: number, label: string, more: Partial<StepRef> = {}): StepRef => ({
  number,
  of: 10,
  id: null,
  name: null,
  label,
  conversation: 'main',
  place: { file: 'scenarios/happy.yaml', line: number + 12, column: 5 },
  ...more,
})

export const stepVerdict = (ref: StepRef, more: Partial<StepVerdict> = {}): StepVerdict => ({
  ...ref,
  outcome: 'pass',
  startMs: 0,
  endMs: 10,
  claimed: [],
  ...more,
})

export const failure = (more: Partial<Failure>): Failure => ({
  kind: 'expect',
  step: null,
  conversation: 'main',
  expected: 'expect message',
  happened: 'nothing came',
  rules: [],
  nearest: [],
  entrySeqs: [],
  soft: false,
  code: 'warning',
  level: 'MUST',
  details: { group: [more.step?.number, more.expected, more.happened] },
  cause: null,
  ...more,
})

/** A call that an expectation nearly matched. */
export const miss = (seq: number, what: string, afterMs: number, why: string, differences: Differences = []) => ({
  ...{ seq, what, afterMs, codes: [], why, steps: [], differences },
})
type Differences = Failure['nearest'][number]['differences']

export const scenarioResult = (more: Partial<ScenarioResult> = {}): ScenarioResult => ({
  name: 'Happy path',
  file: 'scenarios/happy.yaml',
  place: { file: more.file ?? 'scenarios/happy.yaml', line: 2, column: 1 },
  tags: ['smoke'],
  spec: ['E4'],
  seed: 1,
  clock: 'real',
  instance: 1,
  startedAt: '2026-03-01T10:00:00.000Z',
  durationMs: 640,
  outcome: 'pass',
  reason: null,
  failures: [],
  warnings: [],
  steps: [],
  captures: {},
  journal: [],
  conversations: { main: CHATS.main },
  rerunCommand: `npx handover-sim run ${more.file ?? 'scenarios/happy.yaml'} --seed 1`,
  ...more,
})

export function result(scenarios: readonly ScenarioResult[], more: Partial<RunResult> = {}): RunResult {
  const counts: Record<Outcome, number> = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  for (const { outcome } of scenarios) counts[outcome]++
  return {
    version: '0.1.0',
    startedAt: '2026-03-01T10:00:00.000Z',
    durationMs: 7040,
    target: 'http://127.0.0.1:3000/webhook',
    seed: 1,
    scenarios,
    failures: [],
    journal: [],
    stopped: null,
    causes: [],
    counts,
    exitCode: counts.fail > 0 ? 1 : counts.error > 0 ? 3 : 0,
    ...more,
  }
}

/** Why a scenario has no verdict. */
export const because = (text: string) => ({ code: 'need_missing', text })

/** A finding of the linter. */
export const warning = (
  code: string,
  happened: string,
  conversation: string | null = null,
  entrySeqs: readonly number[] = [],
) => ({
  ...{ code, level: 'SHOULD' as const, happened, conversation, entrySeqs, details: {} },
})

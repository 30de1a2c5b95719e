/** Replaces all texts of deliveries, faults, steps and driver calls, to show that verdicts and hints depend on codes only. */
import { afterEach, describe, expect, test } from 'vitest'
import { transformTexts } from '../../src/base/text/texts.ts'
import {
  type DeliveryFailure,
  type EntryOf,
  FAILURE_CODES,
  type FaultEffect,
} from '../../src/platform/journal/entry.ts'
import type { DriverFailure, StepFailure } from '../../src/platform/journal/run-failures.ts'
import { deliveryHint } from '../../src/platform/wording/hints.ts'
import { checked, type JournalBuilder, journalOf, planOf } from '../scenario/journal-builder.ts'

afterEach(() => transformTexts(null))

const pseudo = (text: string) => `[${text.replace(/[a-z]/gi, 'ö')}]`

const CHECK = { check: { status: 'bot' } }
const PRESS = { steps: [{ press: 'handover' }, CHECK] }

const at = { target: '127.0.0.1:3000', system_code: 'E' }

const OTHERS: Partial<Record<DeliveryFailure['code'], object>> = {
  timeout: { timeout_ms: 100 },
  redirect: { status: 302, followed: false },
  not_acknowledged: { status: 500, event: 'REQUESTING TAKEOVER' },
}

const failures = (Object.keys(FAILURE_CODES) as DeliveryFailure['code'][]).map(
  code => ({ code, detail: 'broken', ...at, ...OTHERS[code] }) as DeliveryFailure,
)

const stepFailures: readonly StepFailure[] = [
  { code: 'target_not_started', target: 'The target', failure: { code: 'not_ready', within_ms: 100 }, output: '' },
  { code: 'attachment_unreadable', file: 'a.pdf', detail: 'ENOENT' },
  { code: 'bot_silent' },
  { code: 'not_accepted', detail: 'No button.' },
]

const driverFailures: readonly DriverFailure[] = [
  { code: 'connection_refused', ...at },
  { code: 'status', status: 409, body: 'taken' },
  { code: 'program_not_found', program: './agent.sh' },
  { code: 'command_failed', exit_code: 1, signal: null, stream: 'stderr', output: 'no such chat' },
  { code: 'call_timeout', timeout_ms: 5000, call: 'http' },
  { code: 'inbox_not_list', received: '7' },
]

/** What a verdict says without its texts. */
async function codesOf(write: (journal: JournalBuilder) => void, scenario = PRESS as object) {
  const { outcome, failures, steps } = await checked(scenario, write)
  return {
    outcome,
    failures: failures.map(({ kind, step, rules, entrySeqs, hint }) => ({
      kind,
      step: step?.number,
      rules,
      entrySeqs,
      hasHint: hint !== undefined,
    })),
    steps: steps.map(step => step.outcome),
  }
}

async function sameInBoth<T>(read: () => T | Promise<T>): Promise<void> {
  const original = await read()
  transformTexts(pseudo)
  expect(await read()).toEqual(original)
}

describe('verdicts', () => {
  test.each(failures)('$code', async failure => {
    const status = 'status' in failure ? failure.status : null
    await sameInBoth(() =>
      codesOf(journal => journal.stimulus(1, 'REQUESTING TAKEOVER', [{ status, failure, outcome: 'failed' }])),
    )
  })

  test.each(stepFailures)('a step: $code', async failure => {
    await sameInBoth(() => codesOf(journal => journal.step(1, () => {}, { failure })))
  })

  test.each(driverFailures)('a call of the driver: $code', async failure => {
    const steps = [{ agent: 'accept' }, CHECK]
    const outcome = failure.code === 'connection_refused' ? 'unreachable' : 'failed'
    await sameInBoth(() =>
      codesOf(
        journal => {
          const cause = journal.begin(1)
          journal.driver('accept', { outcome, failure, answer: 'taken' }, cause)
          journal.end(1)
        },
        { steps },
      ),
    )
  })

  test('an event that a fault holds', async () => {
    const held = (effect: FaultEffect) =>
      codesOf(journal => {
        journal.stimulus(1, 'REQUESTING TAKEOVER', [])
        const event = journal.entries.find(entry => entry.kind === 'event')
        const { delivery_id } = event as EntryOf<'event'>
        journal.add({ kind: 'fault', fault: 'late', effect, hit: 1, of: null, delivery_id })
      })
    await sameInBoth(() => held({ hold: 1 }))
    await sameInBoth(() => held({ swap: true }))
  })
})

describe('the log', () => {
  test.each(failures)('$code has the same hint', async failure => {
    const plan = await planOf(PRESS)
    const journal = journalOf(plan)
    journal.stimulus(1, 'REQUESTING TAKEOVER', [{ status: null, failure, outcome: 'failed' }])
    const [delivery] = journal.entries.filter(entry => entry.kind === 'delivery')
    const hintOf = () => deliveryHint(delivery!)?.cause
    await sameInBoth(hintOf)
  })
})

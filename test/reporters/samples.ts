/** Plays as they come out of real runs, one for each way to fail. */
import type { ScenarioResult } from '../../src/evaluation/evaluator/verdict.ts'
import { because, CHATS, failure, Journal, miss, scenarioResult, step, stepVerdict, warning } from './run-results.ts'

/** The agent's words came with HTML in them. */
export function escapedPlay(): ScenarioResult {
  const log = new Journal()
  log.note('scenario_started', { scenario: 'Happy path' })
  log.at(1).started(1, 'press handover')
  const press = log.press()
  log.event('REQUESTING TAKEOVER', 'd1', press)
  log.at(32).delivery('d1', { event: 'REQUESTING TAKEOVER' })
  log.at(33).ended(1)
  log.at(420).started(5, 'agent accept')
  log.driver('accept')
  log.ended(5)
  log.at(610).call('start', { sender: { name: 'Anna' } })
  log.at(620).started(7, `expect message { message: "I'm Anna" }`)
  const wrong = log.at(840).call('message', { message: 'I&#39;m Anna' })
  const other = log.at(910).call('message', { message: 'Hi' }, { chat_id: CHATS.bo })
  log.at(2610).ended(7)
  log.note('scenario_ended')
  const ref = step(7, `expect message { message: "I'm Anna" }`)
  const escaped = { expected: `"I'm Anna"`, received: '"I&#39;m Anna"', hint: 'only HTML escaping differs' }
  const before = [step(1, 'press handover'), step(5, 'agent accept')].map(one => stepVerdict(one))
  const bad = failure({
    step: ref,
    expected: `expect message { message: "I'm Anna" } within 2s of #10`,
    happened: `nearest: #${wrong}, message differs (only HTML escaping)`,
    rules: ['E6'],
    entrySeqs: [wrong],
    nearest: [
      miss(wrong, 'POST /api/v2/handover/message/', 840, '1 field differs', [{ path: 'message', ...escaped }]),
      miss(other, 'message', 910, 'chat_id belongs to chat "bo": cross-talk?'),
      miss(10, 'message', 20, 'already claimed by step 3'),
    ],
    hint: 'send the text as it is; the platform does the escaping',
  })
  return scenarioResult({
    outcome: 'fail',
    durationMs: 6400,
    journal: log.entries,
    conversations: CHATS,
    steps: [...before, stepVerdict(ref, { outcome: 'fail' })],
    failures: [bad],
    warnings: [
      warning(
        'sender-incomplete',
        `message (#${wrong}): sender.avatar is missing. [R-SENDER.4] Send it, also with notices of the system.`,
        'main',
        [wrong],
      ),
    ],
  })
}

/** A text of one chat came up in another. */
export function crossTalkPlay(): ScenarioResult {
  const log = new Journal()
  log.started(1, 'user "Hello"')
  const said = log.user('Hello ~a1b2', CHATS.main)
  log.event('MESSAGE FROM USER', 'd1', said, 'Hello ~a1b2')
  log.at(12).delivery('d1')
  log.ended(1)
  const leaked = log.at(80).call('message', { message: 'Hello ~a1b2' }, { chat_id: CHATS.bo })
  return scenarioResult({
    name: 'Two chats',
    file: 'scenarios/two.yaml',
    outcome: 'fail',
    clock: 'virtual',
    journal: log.entries,
    conversations: CHATS,
    failures: [
      failure({
        kind: 'leak',
        conversation: 'bo',
        expected: 'a text of chat "main" stays there',
        happened: `#${leaked} brought "Hello ~a1b2" of chat "main" into chat "bo"`,
        entrySeqs: [said, leaked],
      }),
    ],
  })
}

/** Nothing came at all. */
export function silentResult(): ScenarioResult {
  const log = new Journal()
  log.started(1, 'press handover')
  const press = log.press()
  log.event('REQUESTING TAKEOVER', 'd1', press)
  log.at(8).delivery('d1', { event: 'REQUESTING TAKEOVER', duration_ms: 8 })
  log.ended(1)
  log.at(9).started(2, 'expect start')
  log.at(5009).ended(2)
  const ref = step(2, 'expect start', { of: 2, place: { file: 'scenarios/silent.yaml', line: 9, column: 5 } })
  return scenarioResult({
    name: 'Nothing comes',
    file: 'scenarios/silent.yaml',
    place: null,
    outcome: 'fail',
    durationMs: 7009,
    journal: log.entries,
    steps: [stepVerdict(step(1, 'press handover', { of: 2 })), stepVerdict(ref, { outcome: 'fail' })],
    failures: [failure({ step: ref, expected: 'expect start within 5s of #2', happened: 'no call came at all' })],
  })
}

export const passedResult = (): ScenarioResult =>
  scenarioResult({ name: 'Short and good', file: 'scenarios/short.yaml', durationMs: 120 })

export const openResult = () =>
  notRun('inconclusive', 'With an agent', 'agent', 'the agent driver has no verb "transfer"', 30)

export const unreachableResult = () =>
  notRun('error', 'No desk', 'desk', 'the help desk is not there: connection refused at 127.0.0.1:3100', 5)

export const skippedResult = () => notRun('skipped', 'Later', 'later', 'not tagged smoke', 0)

const notRun = (outcome: ScenarioResult['outcome'], name: string, file: string, reason: string, durationMs: number) =>
  scenarioResult({ outcome, name, file: `scenarios/${file}.yaml`, reason: because(reason), durationMs })

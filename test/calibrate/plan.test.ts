/** The checklist of what to do in the real chat. */
import { expect, test } from 'vitest'
import { planExperiments } from '../../src/evaluation/calibration/experiment-plan.ts'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { calibrated } from './calibrated.ts'
import { recordedExercise } from './recorder.ts'
import { SILENT } from './values.ts'

const PROVOKED = ASSUMPTIONS.filter(({ class: shown }) => shown === 'provoked').map(({ name }) => name)

test('without a recording names every provoked assumption once, in two chats', async () => {
  const plan = planExperiments(await calibrated(['{"v":1,"type":"ready"}', '{"request":{}}']))
  const shown = plan.flatMap(({ steps }) => steps.flatMap(({ shows }) => shows))
  expect(shown.toSorted()).toEqual(PROVOKED.toSorted())
  expect(plan.length).toBe(2)
})

test('brings the chat into the state that each experiment needs', async () => {
  const [chat] = planExperiments(await calibrated(['{"request":{}}']))
  const texts = chat!.steps.map(({ text }) => text)
  const at = (text: string) => texts.findIndex(one => one.startsWith(text))
  // Of the bot first, then with a request, then with an agent.
  expect(at('End the handover once more')).toBeLessThan(at('Ask for an agent with the button'))
  expect(at('Ask for an agent with the button')).toBeLessThan(at('Press the button that asks for an agent once more'))
  expect(at('Press the button')).toBeLessThan(at('Take the same chat over once more'))
})

test('leaves out what the recording shows', async () => {
  const plan = planExperiments(await calibrated(await recordedExercise({})))
  const shown = plan.flatMap(({ steps }) => steps.flatMap(({ shows }) => shows))
  // Silence confirms nothing.
  const silent = Object.keys(SILENT).filter(name => name !== 'request.repeat')
  expect(shown.toSorted()).toEqual(silent.toSorted())
})

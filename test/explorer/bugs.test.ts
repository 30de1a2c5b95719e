/** Checks that the bugs which need a certain conversation fail with it, and that the example does not. */
import { expect, it } from 'vitest'
import { keysOf } from '../../src/base/objects.ts'
import { inModel } from '../../src/running/explorer/model.ts'
import { toScenario } from '../../src/running/explorer/to-scenario.ts'
import { CONVERSATION_BUGS, type ConversationBugName } from '../mutants/conversation-bugs.ts'
import { runInProcess } from '../shipped/in-process.ts'
import { SETTINGS } from './vocabulary.ts'

const BUGS = keysOf(CONVERSATION_BUGS)

const scenarioOf = (name: ConversationBugName) =>
  toScenario({ seed: 1, acts: CONVERSATION_BUGS[name].acts, knobs: {} }, { ...SETTINGS, name }).scenario

it('the acts of every bug are a conversation, and the example passes all of them', async () => {
  for (const name of BUGS)
    expect(inModel(CONVERSATION_BUGS[name]).map(({ act }) => act)).toEqual(CONVERSATION_BUGS[name].acts)
  const scenarios = await runInProcess(null, BUGS.map(scenarioOf))
  expect(scenarios).toHaveLength(BUGS.length)
  expect(scenarios.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
})

it.for(BUGS)('its conversation fails with %s', async name => {
  const scenarios = await runInProcess(name, scenarioOf(name))
  expect(scenarios.map(({ outcome }) => outcome)).toEqual(['fail'])
})

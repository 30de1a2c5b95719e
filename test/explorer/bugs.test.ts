/** Checks that the bugs which need a certain conversation fail with it, that the example does not, and what the pages about explore say of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { keysOf } from '../../src/base/objects.ts'
import { toYaml } from '../../src/evaluation/scenario/build/yaml.ts'
import { inModel } from '../../src/running/explorer/model.ts'
import { toScenario } from '../../src/running/explorer/to-scenario.ts'
import { blocks, inlineCode, read, rows, section } from '../docs/pages.ts'
import { CONVERSATION_BUGS, type ConversationBugName } from '../mutants/conversation-bugs.ts'
import { runShipped, startInPool } from '../shipped/target.ts'
import { SETTINGS } from './vocabulary.ts'

const BUGS = keysOf(CONVERSATION_BUGS)
const folder = mkdtempSync(join(tmpdir(), 'handover-explore-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const scenarioOf = (name: ConversationBugName) => {
  return toScenario({ seed: 1, acts: CONVERSATION_BUGS[name].acts, knobs: {} }, { ...SETTINGS, name }).scenario
}

function write(name: string, text: string): string {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, text)
  return file
}

it('the acts of every bug are a conversation', () => {
  for (const name of BUGS)
    expect(inModel(CONVERSATION_BUGS[name]).map(({ act }) => act)).toEqual(CONVERSATION_BUGS[name].acts)
})

it('the example passes the conversations of all bugs', { timeout: 120_000 }, async () => {
  const { exitCode, scenarios, stderr } = await runShipped(null, [write('all', toYaml(BUGS.map(scenarioOf)))])
  expect(scenarios.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
  expect({ exitCode, count: scenarios.length }, stderr).toEqual({ exitCode: 0, count: BUGS.length })
})

describe('a conversation finds its bug', () => {
  const outcomeOf = startInPool(BUGS, 5, name => runShipped(name, [write(name, toYaml(scenarioOf(name)))]))

  it.for(BUGS)('%s', { timeout: 120_000 }, async (name, { task }) => {
    const { exitCode, scenarios, stderr } = await outcomeOf(name, task)
    expect({ exitCode, outcomes: scenarios.map(({ outcome }) => outcome) }, stderr).toEqual({
      exitCode: 1,
      outcomes: ['fail'],
    })
  })
})

describe('the pages about explore', () => {
  const reference = read('docs/reference/explore.md')

  it('docs/how-to/explore.md shows the scenario of a bug, and the line that makes it', () => {
    const page = read('docs/how-to/explore.md')
    const { acts, patches } = CONVERSATION_BUGS['takes-digits-for-a-code']
    const name = 'A text of the user does not reach the agent: press, accept, user (digits)'
    const { scenario } = toScenario({ seed: 1, acts, knobs: {} }, { ...SETTINGS, name })
    expect(parse(blocks(page, 'yaml')[0]!)).toEqual(scenario)
    const [, line] = patches[0]!.replacement.split('\n')
    const tutorial = section(page, 'Break an intermediary in five minutes')
    expect(tutorial).toContain(line!.trim())
  })

  it('docs/reference/explore.md has each bug once', () => {
    const listed = rows(section(reference, 'Bugs that it finds')).flatMap(([, bugs = '']) => inlineCode(bugs))
    expect(listed.sort()).toEqual([...BUGS].sort())
  })
})

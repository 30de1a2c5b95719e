/** Tests that shipped and example scenarios load, compile and fit the JSON Schema for editors. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { schemaFiles } from '../../../scripts/json-schemas.ts'
import { compile } from '../../../src/evaluation/scenario/compile/compile.ts'
import { scenarioJsonSchema } from '../../../src/evaluation/scenario/format/json-schema.ts'
import { PartFile, ScenarioFile } from '../../../src/evaluation/scenario/format/scenario.ts'
import { VERBS } from '../../../src/evaluation/scenario/format/step.ts'
import { loadScenarios } from '../../../src/evaluation/scenario/load/load.ts'
import { KNOB_NAMES } from '../../../src/platform/contract/knobs.ts'
import { allSteps } from './written.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDERS = ['test/scenario/format/examples', 'scenarios']
const ajv = new Ajv2020({ strict: false, allErrors: true })
const validate = ajv.compile(scenarioJsonSchema())

const filesOf = (folder: string) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.yaml'))
    .map(name => `${folder}/${name}`)

describe.each(FOLDERS)('%s', folder => {
  it('loads and compiles', async () => {
    const loaded = await loadScenarios([folder], { cwd: ROOT, nodeVersion: process.version })
    const plans = compile(loaded)
    expect(plans.length).toBeGreaterThanOrEqual(5)
    for (const plan of plans) {
      expect(allSteps(plan).map(({ number }) => number)).toEqual(Array.from({ length: plan.count }, (_, at) => at + 1))
      expect(allSteps(plan).every(({ place }) => place !== null)).toBe(true)
    }
  })

  it.each(filesOf(folder))('%s fits the JSON Schema', file => {
    for (const document of parseAllDocuments(readFileSync(`${ROOT}${file}`, 'utf8'))) {
      validate(document.toJS())
      expect(validate.errors).toBeNull()
    }
  })
})

it('the examples compile to plans with these counts, driver verbs and reasons to run alone', async () => {
  const loaded = await loadScenarios([FOLDERS[0]!], { cwd: ROOT, nodeVersion: process.version })
  const summaries = compile(loaded).map(({ name, count, needs, exclusive }) => [
    name,
    count,
    needs.join(' '),
    exclusive,
  ])
  expect(summaries).toEqual([
    ['Files in another language [language=no]', 10, 'accept inbox says', null],
    ['Files in another language [language=pt-BR]', 10, 'accept inbox says', null],
    ['Nobody in the office', 10, 'away back', 'agent away (step 1)'],
    ['Nothing works the first time', 19, 'inbox accept says target.restart', 'target restart (step 18)'],
    ['Lost parcel', 12, 'accept inbox says leave', null],
    ['Two chats and a crowd', 21, 'inbox type says does.transfer leave', null],
  ])
})

describe('the JSON Schema for editors', () => {
  const schema = scenarioJsonSchema() as {
    else: { properties: Record<string, { description?: string }> }
    $defs: Record<string, { description?: string; properties: Record<string, { description?: string }> }>
  }

  it('equals the shipped file', () => {
    expect(schemaFiles()['scenario.v1.json']).toBe(readFileSync(`${ROOT}schema/scenario.v1.json`, 'utf8'))
  })

  it('describes every key of a scenario and a step', () => {
    const { $schema, kind, timeouts, business_hours, ...keys } = schema.else.properties
    const silent = (properties: Record<string, { description?: string }>) =>
      Object.keys(properties).filter(key => !properties[key]!.description)
    expect(silent(keys)).toEqual([])
    expect(silent(schema.$defs.Step!.properties)).toEqual([])
    expect(Object.keys(schema.$defs.Step!.properties)).toEqual(expect.arrayContaining(VERBS))
    for (const name of KNOB_NAMES) expect(schema.$defs[name]?.description).toContain('Unless set: ')
  })

  const head = 'version: 1, name: T'
  const AGREED: [string, string, boolean][] = [
    ['a part', '{ version: 1, kind: partial, steps: [{ user: a }] }', true],
    ['a part with a chat', '{ version: 1, kind: partial, chat: {}, steps: [] }', false],
    ['no version', '{ name: T, steps: [] }', false],
    ['an unknown key', `{ ${head}, steps: [], stpes: [] }`, false],
    ['two verbs', `{ ${head}, steps: [{ user: a, press: b }] }`, false],
    ['no verb', `{ ${head}, steps: [{ id: a }] }`, false],
    ['a nested step', `{ ${head}, steps: [{ repeat: { times: 2, steps: [{ usr: a }] } }] }`, false],
    ['a name for a count', `{ ${head}, steps: [{ repeat: { times: $(n), steps: [{ user: a }] } }] }`, true],
    ['no unit', `{ ${head}, steps: [{ wait: 5 }] }`, false],
    ['times', `{ ${head}, steps: [{ expect: { start: {}, times: { min: 1, max: 2 } } }] }`, true],
    ['a call in a group', `{ ${head}, steps: [{ expect: { all: [{ seq: [{ strat: {} }] }] } }] }`, false],
    ['a fault', `{ ${head}, steps: [{ fault: { on: { api: message }, drop: after } }] }`, true],
    ['a fault on nothing', `{ ${head}, steps: [{ fault: { on: { api: mesage }, drop: after } }] }`, false],
    ['a fault with a name in it', `{ ${head}, steps: [{ fault: { on: api, respond: { status: $(status) } } }] }`, true],
    ['a knob', `{ ${head}, steps: [], config: { typing.webhook: off, webhook: { json: ascii } } }`, true],
    ['a wrong knob', `{ ${head}, steps: [], config: { typing.webhook: maybe } }`, false],
    ['a matcher', `{ ${head}, steps: [{ expect: { message: { message: { $len: { $gte: 2 } } } } }] }`, true],
  ]
  it.each(AGREED)('accepts and refuses the same as the compiler: %s', (_what, text, right) => {
    const value = parse(text) as { kind?: string }
    const own = value.kind === 'partial' ? PartFile : ScenarioFile
    expect(validate(value)).toBe(right)
    expect(own.safeParse(value).success).toBe(right)
  })
})

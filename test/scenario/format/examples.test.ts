/** Tests that shipped scenarios load, compile and fit the JSON Schema for editors. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { compile } from '../../../src/evaluation/scenario/compile/compile.ts'
import { scenarioJsonSchema } from '../../../src/evaluation/scenario/format/json-schema.ts'
import { PartFile, ScenarioFile } from '../../../src/evaluation/scenario/format/scenario.ts'
import { loadScenarios } from '../../../src/evaluation/scenario/load/load.ts'
import { allSteps } from './written.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(scenarioJsonSchema())

describe('the shipped scenarios', () => {
  const files = readdirSync(`${ROOT}scenarios`, { recursive: true, encoding: 'utf8' })

  it('load and compile', async () => {
    const plans = compile(await loadScenarios(['scenarios'], { cwd: ROOT, nodeVersion: process.version }))
    expect(plans.length).toBeGreaterThanOrEqual(5)
    for (const plan of plans) expect(allSteps(plan).every(({ place }) => place !== null)).toBe(true)
  })

  it.each(files.filter(name => name.endsWith('.yaml')))('%s fits the JSON Schema', file => {
    for (const document of parseAllDocuments(readFileSync(`${ROOT}scenarios/${file}`, 'utf8'))) {
      validate(document.toJS())
      expect(validate.errors).toBeNull()
    }
  })
})

describe('the JSON Schema for editors', () => {
  const head = 'version: 1, name: T'
  it.each([
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
    ['a target and files', `{ ${head}, steps: [{ target: restart }, { user: { attach: [{ file: a.pdf }] } }] }`, true],
  ])('accepts and refuses the same as the compiler: %s', (_what, text, right) => {
    const value = parse(text) as { kind?: string }
    const own = value.kind === 'partial' ? PartFile : ScenarioFile
    expect(validate(value)).toBe(right)
    expect(own.safeParse(value).success).toBe(right)
  })
})

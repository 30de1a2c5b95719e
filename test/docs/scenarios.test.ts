/** Checks that the examples of docs/reference/scenarios.md load, and that the page names every key, step and matcher. */
import { describe, expect, it } from 'vitest'
import { knownKeys } from '../../src/base/schemas/definitions.ts'
import { OPTION_NAMES } from '../../src/evaluation/scenario/format/checks.ts'
import { CALL_NAMES } from '../../src/evaluation/scenario/format/fields.ts'
import { Step, VERBS } from '../../src/evaluation/scenario/format/step.ts'
import { complaints, HEAD, load } from '../scenario/format/written.ts'
import { blocks, read, section } from './pages.ts'

const PAGE = read('docs/reference/scenarios.md')
const yaml = blocks(PAGE, 'yaml')
const files = yaml.filter(text => text.includes('version: 1'))
const steps = yaml.filter(text => text.startsWith('- '))
const [part = ''] = files.filter(text => text.includes('kind: partial'))

const indented = (text: string) => text.replace(/^/gm, '  ')

describe('docs/reference/scenarios.md', () => {
  it.each(files.filter(text => text !== part))('a scenario on the page loads', async text => {
    const loaded = await load({ 's.yaml': text, 'parts/accept.yaml': part }, ['s.yaml'])
    expect(loaded).toHaveLength(1)
    expect(loaded[0]!.warnings).toEqual([])
  })

  it.each(steps)('steps on the page load', async text => {
    expect(await load(`${HEAD}steps:\n${indented(text)}`)).toHaveLength(1)
  })

  it('every YAML block is a scenario or a list of steps', () => {
    expect([...files, ...steps]).toHaveLength(yaml.length)
    expect(yaml.length).toBeGreaterThan(4)
  })

  it('the TypeScript scenario equals the YAML scenario', async () => {
    const [code = ''] = blocks(PAGE, 'ts')
    const local = code.replace(
      "'handover-sim/scenario'",
      JSON.stringify(new URL('../../src/evaluation/scenario/build/index.ts', import.meta.url).href),
    )
    const [loaded] = await load({ 's.mjs': local }, ['s.mjs'])
    expect(loaded!.value.steps).toHaveLength(6)
    expect(loaded!.name).toBe('Lost parcel')
  })

  it('the error on the page is the error of the program', async () => {
    const [shown = ''] = blocks(PAGE, '')
    expect(`${await complaints(`${HEAD}steps:\n  - wait: 5\n`)}\n`).toBe(shown)
  })

  it('names every verb, call and option', () => {
    const words = section(PAGE, 'Steps') + section(PAGE, 'Parts')
    const known = [
      ...VERBS,
      ...knownKeys(Step, []),
      ...CALL_NAMES,
      ...OPTION_NAMES,
      ...knownKeys(Step, ['check']),
      ...knownKeys(Step, ['deliver']),
      ...knownKeys(Step, ['agent']),
    ]
    const missing = known.filter(word => !new RegExp(`\\b${word}\\b`).test(words))
    expect(missing).toEqual([])
  })
})

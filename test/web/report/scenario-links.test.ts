import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/evaluation/evaluator/verdict.ts'
import { linkScenarios, linkTo } from '../../../src/pages/web/report/scenario-links.ts'
import { scenarioResult } from './verdicts.ts'

it('failed scenarios come first; otherwise the order is preserved', () => {
  const outcomes: Outcome[] = ['pass', 'skipped', 'fail', 'inconclusive', 'error', 'fail', 'pass']
  const scenarios = outcomes.map((outcome, index) => scenarioResult(`s${index}`, outcome))
  expect(linkScenarios(scenarios).map(({ scenario }) => scenario.name)).toEqual([
    's2',
    's5',
    's4',
    's3',
    's0',
    's6',
    's1',
  ])
})

it('those whose cause the most scenarios have come first', () => {
  const scenarios = ['s0', 's1', 's2', 's3'].map(name => scenarioResult(name, name === 's1' ? 'pass' : 'fail'))
  expect(linkScenarios(scenarios, [{ scenarios: [2, 3] }]).map(({ scenario }) => scenario.name)).toEqual([
    ...['s2', 's3', 's0', 's1'],
  ])
})

it('every result has a unique address for any name', () => {
  const names = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('A b', 'a-B', 'a b 2', '', '/')))
  fc.assert(
    fc.property(names, names => {
      const slugs = linkScenarios(names.map(name => scenarioResult(name, 'pass'))).map(({ slug }) => slug)
      expect(new Set(slugs).size).toBe(names.length)
      for (const slug of slugs) {
        expect(slug).toMatch(/^[\p{L}\p{N}-]+$/u)
        expect(decodeURIComponent(linkTo(slug, 7))).toBe(`#${slug}/7`)
      }
    }),
  )
})

it('addresses are readable', () => {
  const scenarios = [
    scenarioResult('Happy path', 'pass'),
    scenarioResult('Happy path', 'pass', { instance: 3 }),
    scenarioResult('Blåbær [language=nb]', 'pass'),
  ]
  expect(linkScenarios(scenarios).map(({ slug }) => slug)).toEqual([
    'happy-path',
    'happy-path-run-3',
    'blåbær-language-nb',
  ])
})

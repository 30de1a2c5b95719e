import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/evaluation/evaluator/verdict.ts'
import { linkScenarios, linkTo } from '../../../src/pages/web/report/scenario-links.ts'
import { anyText } from '../../reporters/hostile.ts'
import { scenarioResult } from '../../reporters/run-results.ts'

const namesOf = (links: ReturnType<typeof linkScenarios>) => links.map(({ scenario }) => scenario.name)

it('failed scenarios come first, those with the most frequent cause before the others; else the order is preserved', () => {
  const outcomes: Outcome[] = ['pass', 'skipped', 'fail', 'inconclusive', 'error', 'fail', 'pass']
  const scenarios = outcomes.map((outcome, index) => scenarioResult({ name: `s${index}`, outcome }))
  expect(namesOf(linkScenarios(scenarios))).toEqual(['s2', 's5', 's4', 's3', 's0', 's6', 's1'])
  expect(namesOf(linkScenarios(scenarios, [{ scenarios: [4, 5] }])).slice(0, 3)).toEqual(['s5', 's2', 's4'])
})

it('every result has a unique address for any name', () => {
  const names = fc.array(fc.oneof(anyText, fc.constantFrom('A b', 'a-B', 'a b 2', '', '/')))
  fc.assert(
    fc.property(names, names => {
      const slugs = linkScenarios(names.map(name => scenarioResult({ name }))).map(({ slug }) => slug)
      expect(new Set(slugs).size).toBe(names.length)
      expect(slugs.filter(slug => !/^[\p{L}\p{N}-]+$/u.test(slug))).toEqual([])
      expect(slugs.map(slug => decodeURIComponent(linkTo(slug, 7)))).toEqual(slugs.map(slug => `#${slug}/7`))
    }),
  )
})

it('addresses are readable', () => {
  const scenarios = [
    scenarioResult({ name: 'Happy path' }),
    scenarioResult({ name: 'Happy path', instance: 3 }),
    scenarioResult({ name: 'Blåbær [language=nb]' }),
  ]
  const slugs = ['happy-path', 'happy-path-run-3', 'blåbær-language-nb']
  expect(linkScenarios(scenarios).map(({ slug }) => slug)).toEqual(slugs)
})

/** Tests that docs/reference/lint.md and the rules cover each other and every finding of the platform. */
import { expect, it } from 'vitest'
import { FINDINGS, RULES } from '../../src/evaluation/linter/lint.ts'
import { filesIn } from '../architecture/files.ts'
import { read } from '../docs/pages.ts'

it('docs/reference/lint.md has one heading per rule, in their order', () => {
  const headings = [...read('docs/reference/lint.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(RULES.map(({ id }) => id))
})

it('every finding that the platform and the API make has a rule', () => {
  const made = ['src/platform/api', 'src/platform'].flatMap(folder =>
    filesIn(folder, '.ts').flatMap(file =>
      [...read(`${folder}/${file}`).matchAll(/\baddFinding\(transaction, '([^']+)'/g)].map(([, rule]) => rule!),
    ),
  )
  expect([...new Set(made)].sort()).toEqual(Object.keys(FINDINGS).sort())
})

/** The rules, their page, and the findings of the platform they speak of. */
import { expect, it } from 'vitest'
import { FINDINGS } from '../../../src/scenario/lint/findings.ts'
import { RULES } from '../../../src/scenario/lint/lint.ts'
import { read } from '../../docs/pages.ts'
import { filesIn } from '../../house/files.ts'

it('docs/lint.md has one heading per rule, in their order', () => {
  const headings = [...read('docs/lint.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(RULES.map(({ id }) => id))
})

it('every finding platform and API can make has a rule', () => {
  const made = ['src/api', 'src/platform'].flatMap(folder =>
    filesIn(folder, '.ts').flatMap(file =>
      [...read(`${folder}/${file}`).matchAll(/\bfind\(tx, '([^']+)'/g)].map(([, rule]) => rule!),
    ),
  )
  expect([...new Set(made)].sort()).toEqual(Object.keys(FINDINGS).sort())
})

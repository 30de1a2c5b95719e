/** Checks that the files which the pages for contributors name exist. */
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inlineCode, pathOf, read } from './pages.ts'

const PAGES = ['docs/explanation/architecture.md', 'docs/explanation/contributing.md']
const IN_REPOSITORY = /^(\.ci|bench|docs|examples|fixtures|scenarios|schema|scripts|src|test)\//

it.each(PAGES)('%s names only files and folders that exist', page => {
  const named = inlineCode(read(page)).filter(text => IN_REPOSITORY.test(text))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(path => !existsSync(pathOf(path)))).toEqual([])
})

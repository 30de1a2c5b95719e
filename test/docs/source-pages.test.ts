/** Checks that the files which the pages for contributors name exist, and that their walks are counted correctly. */
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inlineCode, pathOf, read } from './pages.ts'

const PAGES = ['docs/architecture.md', 'docs/contributing.md']
const IN_REPOSITORY = /^(\.ci|bench|docs|examples|fixtures|scenarios|schema|scripts|src|test)\//

it.each(PAGES)('%s names only files and folders that exist', page => {
  const named = inlineCode(read(page)).filter(text => IN_REPOSITORY.test(text))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(path => !existsSync(pathOf(path)))).toEqual([])
})

const WALK = /through (\d+) files in (\d+) folders:\n\n((?:\d+\. .*\n)+)/g
const walks = [...read('docs/architecture.md').matchAll(WALK)].map(([, files, folders, steps]) => {
  const paths = inlineCode(steps!).filter(text => text.startsWith('src/'))
  return { counted: [Number(files), Number(folders)], paths }
})

it('docs/architecture.md counts the files and folders of its walks', () => {
  expect(walks).toHaveLength(4)
  for (const { counted, paths } of walks)
    expect(counted).toEqual([new Set(paths).size, new Set(paths.map(path => path.split('/')[1])).size])
})

/** Checks that docs/unit-tests.md shows a test that runs, and names existing rules of the linter. */
import { expect, it } from 'vitest'
import { blocks, inlineCode, read } from './pages.ts'

const page = read('docs/unit-tests.md')
const [app, example] = blocks(page, 'ts')

it('shows the files of test/docs/unit-tests', () => {
  const shown = (file: string) => read(`test/docs/unit-tests/${file}`).replace(/^\/\*\*.*\*\/\n\n/, '')
  expect(app).toBe(shown('app.ts'))
  expect(example).toBe(
    shown('example.test.ts')
      .replaceAll('../../../src/index.ts', 'handover-sim')
      .replaceAll('../../../src/vitest/index.ts', 'handover-sim/vitest'),
  )
})

it('names only existing rules of the linter', () => {
  const headings = [...read('docs/lint.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!)
  const named = inlineCode(page).filter(text => /^[a-z]+(-[a-z]+)+$/.test(text))
  expect(named).toHaveLength(4)
  expect(named.filter(name => !headings.includes(name))).toEqual([])
})

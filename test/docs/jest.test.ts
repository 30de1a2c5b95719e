/** Checks that docs/how-to/jest.md shows files of examples/jest, which `.ci/run` installs and tests. */
import { expect, it } from 'vitest'
import { blocks, read } from './pages.ts'

it('shows a test and the config of the example', () => {
  const shown = ['intermediary.test.js', 'jest.config.js'].map(file => read(`examples/jest/${file}`))
  expect(blocks(read('docs/how-to/jest.md'), 'js')).toEqual(shown)
})

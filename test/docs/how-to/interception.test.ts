/** Checks that the pages about interception show files that run: of this folder, and of examples/jest-jsdom. */
import { expect, it } from 'vitest'
import { blocks, read } from '../pages.ts'

/** Returns a file as a user writes it, with the names of the package. */
const shown = (file: string) =>
  read(file)
    .replaceAll('../../../src/index.ts', 'handover-sim')
    .replaceAll('../../../src/testing/interceptors/interceptors.ts', 'handover-sim/interceptors')

it('docs/how-to/nock.md shows a line and the test that has it', () => {
  const test = shown('test/docs/how-to/nock.test.ts')
  const [line, ...files] = blocks(read('docs/how-to/nock.md'), 'ts')
  expect(test).toContain(line)
  expect(files).toEqual([test])
})

it('docs/how-to/undici.md shows the test that runs', () => {
  expect(blocks(read('docs/how-to/undici.md'), 'ts')).toEqual([shown('test/docs/how-to/undici.test.ts')])
})

it('docs/how-to/jsdom.md shows the files of the example', () => {
  const files = ['desk.js', 'desk.test.js', 'jest.config.js'].map(file => read(`examples/jest-jsdom/${file}`))
  expect(blocks(read('docs/how-to/jsdom.md'), 'js')).toEqual(files)
})

/** Checks that docs/how-to/express-and-nest.md shows tests that run: of this folder, and of examples/nest. */
import { expect, it } from 'vitest'
import { blocks, read } from '../pages.ts'

/** Returns a file as a user writes it, with the names of the package. */
const shown = (file: string) =>
  read(file)
    .replace(/^\/\*\*.*\*\/\n\n/, '')
    .replaceAll('../../../src/index.ts', 'handover-sim')
    .replaceAll('../../../src/platform/signature/index.ts', 'handover-sim/signature')
    .replaceAll('../../../src/testing/interceptors/interceptors.ts', 'handover-sim/interceptors')

it('docs/how-to/express-and-nest.md shows the files that run', () => {
  const files = ['app.ts', 'express.test.ts'].map(name => `test/docs/how-to/${name}`)
  const all = [...files, 'examples/nest/app.test.ts', 'test/docs/how-to/fastify.test.ts']
  expect(blocks(read('docs/how-to/express-and-nest.md'), 'ts')).toEqual(all.map(shown))
})

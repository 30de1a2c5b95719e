/** Checks that pages show files that run in tests or in examples, as they are. */
import { expect, it } from 'vitest'
import { blocks, read } from './pages.ts'

/** Returns a file as a user writes it: with the names of the package, without the comment of the file. */
const asShown = (file: string) =>
  read(file)
    .replace(/^\/\*\*.*\*\/\n\n/, '')
    .replaceAll('../../../src/index.ts', 'handover-sim')
    .replaceAll('../../../src/platform/signature/index.ts', 'handover-sim/signature')
    .replaceAll('../../../src/testing/interceptors/interceptors.ts', 'handover-sim/interceptors')
    .replaceAll('../../../src/testing/vitest/index.ts', 'handover-sim/vitest')

const HERE = 'test/docs/how-to'
it.each([
  [
    'express-and-nest',
    'ts',
    `${HERE}/app.ts`,
    `${HERE}/express.test.ts`,
    'examples/nest/app.test.ts',
    `${HERE}/fastify.test.ts`,
  ],
  [
    'function-platforms',
    'ts',
    ...['worker.ts', 'worker.test.ts', 'lambda.ts', 'lambda.test.ts'].map(file => `${HERE}/${file}`),
  ],
  ['nock', 'ts', `${HERE}/nock.test.ts`],
  ['undici', 'ts', `${HERE}/undici.test.ts`],
  ['unit-tests', 'ts', 'test/docs/unit-tests/app.ts', 'test/docs/unit-tests/example.test.ts'],
  ['jest', 'js', 'examples/jest/intermediary.test.js', 'examples/jest/jest.config.js'],
  ['jsdom', 'js', ...['desk.js', 'desk.test.js', 'jest.config.js'].map(file => `examples/jest-jsdom/${file}`)],
  ['other-languages', 'python', 'examples/pytest/test_intermediary.py'],
  ['other-languages', 'ruby', 'examples/rspec/intermediary_spec.rb'],
  ['other-languages', 'php', 'examples/phpunit/IntermediaryTest.php'],
  ['other-languages', 'go', 'examples/go-test/intermediary_test.go'],
  ['other-languages', 'java', 'examples/junit/IntermediaryTest.java'],
  ['other-languages', 'csharp', 'examples/xunit/IntermediaryTests.cs'],
])('docs/how-to/%s.md shows its %s files', (page, language, ...files) => {
  const shown = blocks(read(`docs/how-to/${page}.md`), language)
  for (const file of files) expect(shown.map(text => text.trimEnd())).toContain(asShown(file).trimEnd())
})

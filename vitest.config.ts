import { defineConfig } from 'vitest/config'
import { builtPackage, builtPackageTests } from './test/support/built-package.ts'
import { SecondTries } from './test/support/second-tries.ts'

/** Tests the sources, or with `dist` the built package: those tests that use only its public entries. */
const { HANDOVER_SIM_TEST: tested = 'src' } = process.env
const include = tested === 'dist' ? builtPackageTests() : ['test/**/*.test.ts']
if (tested === 'dist')
  process.stdout.write(`${include.length} test files use only what users import, and run with dist/.\n`)

export default defineConfig({
  plugins: tested === 'dist' ? [builtPackage] : [],
  test: {
    include,
    reporters: ['default', new SecondTries()],
    setupFiles: ['test/support/setup.ts'],
    server: { deps: { external: [/\/dist\//] } },
    pool: 'threads',
    /** One more than the cores of a small CI machine, because many tests wait for a process or a browser. */
    maxWorkers: 3,
    /** Tests share nothing but loaded modules: each makes its own simulator, and leaves no global other than it was. */
    isolate: false,
    /** Bounds of what hangs, far beyond what a busy machine needs: they cost time only when a test fails. */
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})

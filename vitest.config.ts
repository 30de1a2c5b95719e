import { defineConfig } from 'vitest/config'
import { builtPackage, builtPackageTests } from './test/support/built-package.ts'

/** Tests the sources, or with `dist` the built package: those tests that use only its public entries. */
const isBuilt = process.env.HANDOVER_SIM_TEST === 'dist'
const built = isBuilt ? builtPackageTests() : null
if (built !== null) process.stdout.write(`${built.length} test files use only what users import, and run with dist/.\n`)

const SYSTEM = 'test/**/*.system.test.ts'
const SMOKE = 'test/smoke.test.ts'
const setup = 'test/support/setup.ts'

const shared = {
  /** Tests share nothing but loaded modules: each makes its own simulator, and leaves no global other than it was. */
  isolate: false,
  pool: 'threads' as const,
  server: { deps: { external: [/\/dist\//] } },
  /** Bounds of what hangs: they cost time only when a test fails. */
  testTimeout: 300_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
}

export default defineConfig({
  plugins: built === null ? [] : [builtPackage],
  test:
    built !== null
      ? { ...shared, include: built, setupFiles: [setup] }
      : {
          maxWorkers: 3,
          projects: [
            {
              test: {
                ...shared,
                name: 'unit',
                include: ['test/**/*.test.ts'],
                exclude: [SYSTEM, SMOKE],
                setupFiles: ['test/support/no-processes.ts', setup],
              },
            },
            { test: { ...shared, name: 'smoke', include: [SMOKE], setupFiles: [setup] } },
            { test: { ...shared, name: 'system', include: [SYSTEM], setupFiles: [setup] } },
          ],
        },
})

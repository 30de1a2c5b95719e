import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
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

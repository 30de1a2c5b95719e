import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    pool: 'threads',
    maxWorkers: 2,
    /** Tests share nothing but loaded modules: each makes its own simulator, and none patches a global. */
    isolate: false,
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
})

/** The helpers of test-simulator.ts, for the folders that import them from here. */
export * from '../support/test-simulator.ts'

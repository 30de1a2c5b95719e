import type { Reporter, TestModule } from 'vitest/node'

/** Lists the tests that failed once and then passed, which `npm test` allows: a busy machine or a real fault may be the cause. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap(({ children, relativeModuleId }) =>
      [...children.allTests()]
        .filter(test => test.diagnostic()?.flaky)
        .map(({ fullName }) => `  ${relativeModuleId} > ${fullName}\n`),
    )
    if (names.length > 0) process.stdout.write(`\nPassed only at the second try:\n${names.join('')}\n`)
  }
}

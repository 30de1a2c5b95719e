/**
 * Makes a unit test fail that starts a process: such a test belongs in a `*.system.test.ts` file. Programs of the system
 * differ between machines and take their time, so the quick tests use none.
 */
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const) {
  childProcess[name] = (() => {
    throw new Error(`A unit test called ${name} of node:child_process. Move the test to a *.system.test.ts file.`)
  }) as never
}
syncBuiltinESMExports()

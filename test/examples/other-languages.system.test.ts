/** Runs the tests in other languages as their page says, where their language is installed. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { pathOf, read, run } from '../docs/pages.ts'
import { freePort } from '../support/port.ts'

const JARS = [
  ...['junit-platform-console-standalone', 'jackson-databind', 'jackson-core', 'jackson-annotations', 'opentest4j'],
  ...['junit-jupiter-api', 'junit-jupiter-engine', 'junit-jupiter-params', 'apiguardian-api', 'junit-platform-commons'],
  ...['junit-platform-console', 'junit-platform-engine', 'junit-platform-launcher', 'junit-platform-reporting'],
].map(name => `/usr/share/java/${name}.jar`)
const CLASSES = JARS.join(':')
const JUNIT = [
  `javac -cp ${CLASSES} -d out *.java`,
  `java -cp ${CLASSES}:out org.junit.platform.console.ConsoleLauncher --scan-classpath out --disable-banner`,
].join(' && ')

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0

/** `passed`: what a run of both tests prints. */
const SUITES = [
  {
    folder: 'pytest',
    command: 'python3 -m pytest -p no:cacheprovider',
    installed: () => has('python3', '-m', 'pytest', '--version'),
    passed: '2 passed',
  },
  {
    folder: 'rspec',
    command: 'rspec intermediary_spec.rb',
    installed: () => has('rspec', '--version'),
    passed: '2 examples, 0 failures',
  },
  {
    folder: 'phpunit',
    command: 'phpunit IntermediaryTest.php',
    installed: () => has('phpunit', '--version'),
    passed: 'OK (2 tests, ',
  },
  { folder: 'go-test', command: 'go test -count=1 -v ./...', installed: () => has('go', 'version'), passed: 'PASS' },
  {
    folder: 'junit',
    command: JUNIT,
    installed: () => has('javac', '--version') && JARS.every(existsSync),
    passed: '2 tests successful',
  },
  { folder: 'xunit', command: 'dotnet test', installed: () => has('dotnet', '--version'), passed: 'Passed!' },
]

it.for(SUITES)('$folder', { timeout: 300_000 }, async ({ folder, command, installed, passed }, { skip }) => {
  skip(!installed(), `${folder} is not installed`)
  const [port, platformPort] = [await freePort(), await freePort()]
  const cwd = folderWith({
    'driver.yaml': read('examples/intermediary/driver.yaml').replace('127.0.0.1:3000', `127.0.0.1:${port}`),
  })
  cpSync(pathOf(`examples/${folder}`), cwd, { recursive: true })
  // The intermediary is a program of its own, as in the page.
  const example = `PORT=${port} HANDOVER_SIM_URL=http://127.0.0.1:${platformPort} "${process.execPath}" "${pathOf('examples/intermediary/main.js')}"`
  const exec = [
    `"${process.execPath}" "${pathOf('bin/handover-sim.js')}" exec --port ${platformPort}`,
    `--webhook-url http://127.0.0.1:${port}/webhook --agent-driver driver.yaml --wait-for http://127.0.0.1:${port}/health`,
    `-- sh -c '${command}'`,
  ].join(' ')
  const script = `cd "${cwd}"; ${example} > /dev/null 2>&1 & intermediary=$!; cd "${cwd}"; ${exec}; code=$?; kill $intermediary; exit $code`
  const { code, stdout, stderr } = await run('sh', ['-c', script], {
    GOCACHE: join(cwd, 'cache'),
    GOFLAGS: '-mod=mod',
  })
  expect({ code, text: stdout + stderr }).toEqual({ code: 0, text: expect.stringContaining(passed) })
})

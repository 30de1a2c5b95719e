/** Runs the shipped scenarios and the certification against the intermediaries in other languages that are installed. */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, type onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import type { ReportedCertificate } from '../certifier/target.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { NON_INTERACTIVE, type Outcome } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { EXAMPLES, emptyFolder } from './program.ts'

interface Language {
  readonly name: string
  /** What must be installed. */
  readonly needs: string
  isInstalled(): boolean
  /** Whether chats continue after a restart. */
  readonly storesChats: boolean
}

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0

const LANGUAGES: readonly Language[] = [
  {
    name: 'intermediary-python',
    needs: 'python3 3.9 or newer',
    isInstalled: () => has('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'),
    storesChats: true,
  },
  {
    name: 'intermediary-ruby',
    needs: 'ruby 3.0 or newer',
    isInstalled: () => has('ruby', '-e', 'exit RUBY_VERSION >= "3.0"'),
    storesChats: true,
  },
  {
    name: 'intermediary-php',
    needs: 'php 8.1 with pcntl',
    isInstalled: () => has('php', '-r', 'exit(PHP_VERSION_ID >= 80100 && function_exists("pcntl_fork") ? 0 : 1);'),
    storesChats: true,
  },
  { name: 'intermediary-go', needs: 'go', isInstalled: () => has('go', 'version'), storesChats: false },
  {
    name: 'intermediary-java',
    needs: 'a JDK (17 or newer)',
    isInstalled: () => has('javac', '--release', '17', '--version'),
    storesChats: false,
  },
  { name: 'intermediary-csharp', needs: 'dotnet', isInstalled: () => has('dotnet', '--version'), storesChats: false },
]

/** Facts about intermediaries that repeat calls, and about those that know one algorithm. */
const INFORMS = ['FLT-04', 'SIG-09']
/** What recommends a speed: a busy machine can be too slow for it. */
const ABOUT_SPEED = ['ACK-02', 'FLT-01', 'CON-01', 'Slow platform']

/** Copies the example, because programs write beside themselves, and gives it a port of its own. */
async function copyOf(name: string, finished: typeof onTestFinished): Promise<{ folder: string; where: string[] }> {
  const folder = emptyFolder(finished)
  const port = await freePort()
  cpSync(join(EXAMPLES, name), folder, { recursive: true })
  const driver = join(folder, 'driver.yaml')
  const text = readFileSync(driver, 'utf8')
  writeFileSync(driver, text.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`).replace('"3000"', `"${port}"`))
  return { folder, where: ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver, '--port', '0'] }
}

async function report<Report>(cwd: string, args: readonly string[]): Promise<Report & { exitCode: number }> {
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  // Go and .NET write below HOME.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME ?? cwd }
  const exitCode = await main(args, env, { ...NON_INTERACTIVE, cwd, stdout, stderr })
  if (stdout.text === '') throw new Error(`The command wrote no report: ${stderr.text}`)
  return { ...(JSON.parse(stdout.text) as Report), exitCode }
}

// Two languages at a time, because people's pace leaves the processor idle.
const halves = [0, 1].map(rest => LANGUAGES.filter((_, index) => index % 2 === rest))

describe.concurrent.for(halves)('%#', languages =>
  it.for(languages)('$name', { timeout: 300_000, concurrent: false }, async (language, { skip, onTestFinished }) => {
    const { name, needs, storesChats } = language
    if (!language.isInstalled()) skip(`${needs} is not installed`)
    const { folder, where } = await copyOf(name, onTestFinished)

    const withoutRestart = storesChats ? [] : ['--skip', 'Restart in the middle']
    const run = await report<Outcome>(folder, ['run', '--builtin', ...where, '--report', 'json', ...withoutRestart])
    const warnings = run.scenarios.flatMap(({ name, warnings }) => warnings.map(one => ({ name, ...one })))
    expect(run.scenarios.filter(({ outcome }) => outcome !== 'pass')).toEqual([])
    expect(warnings.filter(({ name }) => !ABOUT_SPEED.includes(name))).toEqual([])
    expect(run.scenarios.length).toBeGreaterThan(30)
    expect(run.exitCode).toBe(0)

    const flags = ['--observe', '400ms', '--within', '8s', ...(storesChats ? [] : ['--skip', 'RST'])]
    const certify = ['certify', ...where, '--report', 'json', ...flags]
    const certificate = await report<ReportedCertificate>(folder, certify)
    const others = certificate.checks.filter(({ id, outcome }) => {
      const accepted = ABOUT_SPEED.includes(id) ? ['warn', 'info'] : INFORMS.includes(id) ? ['info'] : []
      return outcome !== 'pass' && !accepted.includes(outcome)
    })
    expect(others.map(({ id, outcome, reason, findings }) => ({ id, outcome, reason, findings }))).toEqual([])
    expect(certificate.checks.length).toBeGreaterThan(40)
    expect(certificate.exitCode).toBe(0)
  }),
)

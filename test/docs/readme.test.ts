/** Runs the commands of README.md with the built package, as a user types them; `npm test` builds first. The demo has a test of its own. */
import { expect, it } from 'vitest'
import { BIN, startProgram } from '../cli/program.ts'
import { folderWith } from '../config/folder.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { blocks, inlineCode, read } from './pages.ts'

const README = read('README.md')
const NPX = 'npx handover-sim '

/** The arguments of a command of the page. */
const wordsOf = (command: string) => command.slice(NPX.length).trimEnd().split(' ')

interface Typed {
  /** A command that has to run before. */
  readonly before?: readonly string[]
  readonly args: readonly string[]
  readonly code: number
  readonly stdout?: RegExp
  readonly stderr?: RegExp
}

/** What is typed after each command that the page names without the rest, and what it then does. */
const SHORT: Readonly<Record<string, Typed>> = {
  certify: { args: ['--self-test', '--only', 'SIG-01'], code: 0, stdout: /SIG-01/ },
  explore: { args: ['--self-test', '--conversations', '2'], code: 0, stderr: /2 conversations, / },
  load: {
    args: ['builtin:happy-path.yaml', '--self-test', '--arrivals', '2/s', '--for', '1s', '--no-own-limit'],
    code: 0,
    stdout: /acknowledgement/,
  },
  calibrate: {
    before: ['run', 'builtin:happy-path.yaml', '--self-test', '--port', '0', '--report', 'journal=traffic.jsonl'],
    args: ['traffic.jsonl'],
    code: 0,
    stdout: /Not seen, because/,
  },
  doctor: { args: [], code: 0, stdout: /runs with Node/ },
  init: { args: ['--yes'], code: 0, stdout: /scenarios/ },
  mcp: { args: ['--help'], code: 0, stdout: /Model Context Protocol/ },
}

const blockCommands = blocks(README, '')
  .flatMap(block => block.trimEnd().split('\n'))
  .filter(line => line.startsWith(NPX))
const inlineCommands = inlineCode(README).filter(text => text.startsWith(NPX))

it('has two blocks with commands, and names others', () => {
  expect(blockCommands.map(command => wordsOf(command)[0])).toEqual(['start', 'run'])
  expect(inlineCommands.map(command => wordsOf(command)[0])).toEqual(['start', ...Object.keys(SHORT)])
})

it.each([blockCommands[0]!, inlineCommands[0]!])('%s serves', async command => {
  const { stdout, child, code } = startProgram([process.execPath, BIN, ...wordsOf(command), '--port', '0'])
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toMatch(/^Ready: http:\/\/127\.0\.0\.1:\d+\n$/)
  child.kill('SIGINT')
  expect(await code).toBe(130)
})

it('runs the shipped scenarios', { timeout: 180_000 }, async () => {
  const folder = folderWith()
  const port = await freePort()
  const driver = writeDriver(folder, port, null)
  const args = wordsOf(blockCommands[1]!).map(word =>
    word.replace('driver.yaml', driver).replace('http://127.0.0.1:3000', `http://127.0.0.1:${port}`),
  )
  const program = startProgram([process.execPath, BIN, ...args, '--port', '0', '--tag', 'smoke'], { cwd: folder })
  expect(await program.code, program.stderr.text).toBe(0)
  expect(program.stdout.text).toMatch(/\d+ scenarios? in .*: \d+ passed/)
})

it.each(inlineCommands.slice(1))('%s', { timeout: 120_000 }, async command => {
  const [name = ''] = wordsOf(command)
  const { before, args, code, stdout, stderr } = SHORT[name]!
  const cwd = folderWith()
  if (before !== undefined) expect(await startProgram([process.execPath, BIN, ...before], { cwd }).code).toBe(0)
  const port = ['certify', 'explore', 'load', 'doctor'].includes(name) ? ['--port', '0'] : []
  const program = startProgram([process.execPath, BIN, name, ...args, ...port], { cwd })
  expect(await program.code, program.stderr.text + program.stdout.text).toBe(code)
  if (stdout !== undefined) expect(program.stdout.text).toMatch(stdout)
  if (stderr !== undefined) expect(program.stderr.text).toMatch(stderr)
})

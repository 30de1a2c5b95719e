/** Types the commands of README.md with the built package. The demo has a test of its own. */
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { blocks, inlineCode, read } from './pages.ts'
import { createProject } from './project.ts'

const README = read('README.md')
const NPX = 'npx handover-sim '
const shown = blocks(README, '').flatMap(block => block.split('\n').filter(line => line.startsWith(NPX)))
const named = inlineCode(README).filter(text => text.startsWith(NPX))
const nameOf = (command: string) => command.split(' ')[2]!

/** What is typed after each command that the page names without the rest, and what it then prints. */
const REST: Readonly<Record<string, readonly [rest: string, output: RegExp]>> = {
  certify: ['--self-test --only SIG-01 --port 0', /SIG-01/],
  explore: ['--self-test --conversations 2 --port 0', /2 conversations, /],
  load: ['builtin:happy-path.yaml --self-test --arrivals 2/s --for 1s --no-own-limit --port 0', /acknowledgement/],
  calibrate: ['traffic.jsonl', /Not seen, because/],
  doctor: ['--port 0', /runs with Node/],
  init: ['--yes', /scenarios/],
  mcp: ['--help', /Model Context Protocol/],
}
const RECORD = `${NPX}run builtin:happy-path.yaml --self-test --port 0 --report journal=traffic.jsonl`

it('has two blocks with commands, and names others', () => {
  expect(shown.map(nameOf)).toEqual(['start', 'run'])
  expect(named.map(nameOf)).toEqual(['start', ...Object.keys(REST)])
})

it.each([shown[0]!, named[0]!])('%s serves', async command => {
  const { stdout, child, code } = createProject().start(`exec ${command} --port 0`)
  await stdout.until(/^Ready: http:\/\/127\.0\.0\.1:\d+\n$/)
  child.kill('SIGINT')
  expect(await code).toBe(130)
})

it('runs the shipped scenarios', async () => {
  const port = await freePort()
  const driver = writeDriver(folderWith(), port, null)
  const command = shown[1]!.replace('driver.yaml', driver).replace(':3000', `:${port}`)
  const { code, stdout, stderr } = await createProject().type(`${command} --port 0 --tag smoke`)
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/\d+ scenarios? in .*: \d+ passed/)
})

it.each(named.slice(1))('%s', async command => {
  const [rest, output] = REST[nameOf(command)]!
  const { type } = createProject()
  if (nameOf(command) === 'calibrate') await type(RECORD)
  const { code, stdout, stderr } = await type(`${NPX}${nameOf(command)} ${rest}`)
  expect(code, stderr + stdout).toBe(0)
  expect(stdout + stderr).toMatch(output)
})

/** The shipped scenarios in their groups: smoke, flow, robustness. */
import { expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { against, finished, runFiles, startAnswering, startRun } from './targets.ts'

/** Does nothing, so that scenarios need no verb that is missing. */
const DRIVER = ['accept', 'says', 'leave'].map(verb => `export const ${verb} = () => {}\n`).join('')
const FILES = { 'driver.mjs': `${DRIVER}export const inbox = () => []\n` }

/** Runs shipped scenarios against a webhook that answers every event with this status, and does nothing. */
async function runAnswered(status: number, ...flags: string[]) {
  const target = await startAnswering(status)
  const argv = ['--builtin', ...against(target), '--agent-driver', 'driver.mjs', ...flags]
  return { ...(await finished(startRun(FILES, argv))), url: target.url }
}

it('the report has a heading for each group, in order, and the last line says what to do first', async () => {
  const oneOfEach = ['--only', 'Second handover', '--only', 'Happy path', '--only', 'Out of order']
  const { code, out, err, url } = await runAnswered(500, ...oneOfEach, '--jobs', '1')
  expect(code).toBe(1)
  const heads = [...out.matchAll(/^(\w+) {2}.*: 0 of 1 passed$/gm)]
  expect(heads.map(([, head]) => head)).toEqual(['smoke', 'flow', 'robustness'])
  const titles = [...out.matchAll(/^FAIL builtin:(\S+)\.yaml/gm)].map(([, file]) => file)
  expect(titles).toEqual(['happy-path', 'second-handover', 'out-of-order'])
  expect(err).toContain('Next: fix the group smoke first: npx handover-sim run --builtin --tag smoke ')
  expect(err).toContain(` --target ${url} `)
  expect(err).toMatch(/; then the same with --tag flow\.\n$/)
})

it.each([
  ['flow', 'Second handover', /--tag flow .*; then the same with --tag robustness\.\n$/],
  ['robustness', 'Out of order', /--tag robustness .*; then npx handover-sim certify\.\n$/],
])('after a failure only in %s, the last line names it; one group has no heading', async (group, name, line) => {
  const { out, err } = await runAnswered(500, '--only', name)
  expect(err).toMatch(line)
  expect(out).toMatch(/^FAIL builtin:/)
  expect(out).not.toContain(`${group}  `)
})

it.each([true, false])('after a run that passes, the last line says how to go on, on a terminal: %s', async isTTY => {
  const own = 'version: 1\nname: Asks alone\nsteps: [{ press: handover }, { check: { status: pending } }]\n'
  const io = fakeIo(folderWith({ ...FILES, 'own.yaml': own }), isTTY)
  const only = [
    'own.yaml',
    '--builtin',
    '--only',
    'Asks alone',
    '--only',
    'Notice before',
    '--agent-driver',
    'driver.mjs',
  ]
  expect(await main(['run', ...only, ...against(await startAnswering(200))], {}, io)).toBe(0)
  const line = /\nNext: npx handover-sim certify --target \S+ --agent-driver driver\.mjs .* then explore, .*\n$/
  expect(line.test(io.stderr.text)).toBe(isTTY)
})

it('a run of other files says nothing about the shipped ones', async () => {
  const own = 'version: 1\nname: Own\ntags: [smoke]\nsteps: [{ press: handover }, { expect: start }]\n'
  const { out, err } = await runFiles({ 'own.yaml': own }, await startAnswering(500))
  expect(out).toMatch(/^FAIL own\.yaml > Own/)
  expect(err).not.toContain('Next:')
})

it('an inconclusive scenario says what its verb has to do, and where the recipe is', async () => {
  const { out } = await runAnswered(200, '--only', 'Notice before')
  expect(out).toMatch(/needs does\.announce, .* add announce below does; .*driver\.md#verbs-of-your-own\)/)
})

/** The shipped scenarios in their groups: smoke, flow, robustness. */
import { expect, it } from 'vitest'
import { finished, startRun, startTarget } from './targets.ts'

/** Does nothing, so that scenarios need no verb that is missing. */
const DRIVER = ['accept', 'says', 'leave'].map(verb => `export const ${verb} = () => {}\n`).join('')
const FILES = { 'driver.mjs': `${DRIVER}export const inbox = () => []\n` }

/** Runs shipped scenarios against a webhook that answers every event with this status, and does nothing. */
async function runAnswered(status: number, ...flags: string[]) {
  const target = await startTarget((_, response) => void response.writeHead(status).end())
  const where = ['--target', target.url, '--agent-driver', 'driver.mjs', '--port', '0']
  return { ...(await finished(startRun(FILES, ['--builtin', ...where, ...flags]))), url: target.url }
}

const ONE_OF_EACH = ['--only', 'Second handover', '--only', 'Happy path', '--only', 'Out of order']

it('the report has a heading for each group, in order, and the last line says what to do first', async () => {
  const { code, out, err, url } = await runAnswered(500, ...ONE_OF_EACH, '--jobs', '1')
  expect(code).toBe(1)
  const heads = [...out.matchAll(/^(\w+) {2}.*: 0 of 1 passed$/gm)]
  expect(heads.map(([, head]) => head)).toEqual(['smoke', 'flow', 'robustness'])
  const titles = [...out.matchAll(/^FAIL builtin:(\S+)\.yaml/gm)].map(([, file]) => file)
  expect(titles).toEqual(['happy-path', 'second-handover', 'out-of-order'])
  const ended = [...err.matchAll(/^\d\/3 {2}FAIL (.+?), /gm)].map(([, name]) => name)
  // A scenario that only listens for late calls lets the next one begin, which may end first.
  expect(ended.sort()).toEqual(['Happy path', 'Out of order', 'Second handover'])
  const flags = `--target ${url} --agent-driver driver.mjs --port 0`
  expect(err.trimEnd().split('\n').at(-1)).toBe(
    `Next: fix the group smoke first: npx handover-sim run --builtin --tag smoke ${flags}; then the same with --tag flow.`,
  )
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

it('a run of other files says nothing about the shipped ones', async () => {
  const target = await startTarget((_, response) => void response.writeHead(500).end())
  const files = {
    'own.yaml': 'version: 1\nname: Own\ntags: [smoke]\nsteps: [{ press: handover }, { expect: start }]\n',
  }
  const { code, out, err } = await finished(startRun(files, ['own.yaml', '--target', target.url, '--port', '0']))
  expect(code).toBe(1)
  expect(out).toMatch(/^FAIL own\.yaml > Own/)
  expect(err).not.toContain('Next:')
})

it('an inconclusive scenario says what its verb has to do, and where the recipe is', async () => {
  const { out } = await runAnswered(200, '--only', 'Notice before')
  expect(out).toContain(
    'needs does.announce, and the agent driver does not have it: add announce below does; it has to send the waiting ' +
      'user a system message with the position in the queue (docs/reference/driver.md#verbs-of-your-own)',
  )
})

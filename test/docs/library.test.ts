/** Runs the programs of docs/reference/library.md and README.md with the built package; `npm test` builds first. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { blocks, pathOf, read, run } from './pages.ts'

/** Writes a module into an ignored folder of the repository, where it can import the package by name. */
function moduleWith(text: string): string {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'library-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'program.mjs'), text)
  return join(folder, 'program.mjs')
}

const programs = blocks(read('docs/reference/library.md'), 'js')

it('the page has two programs', () => expect(programs).toHaveLength(2))

it.each(programs.map((text, index) => [index + 1, text] as const))(
  'program %i prints the output in its comments',
  async (_, text) => {
    const expected = [...text.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, output]) => output)
    const { code, stdout, stderr } = await run(process.execPath, [moduleWith(text)])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(expected)
    expect(expected.length).toBeGreaterThan(0)
  },
)

/** The `app` of the README program: it starts a handover for every request. */
const APP = `
const app = {
  async webhook(request) {
    const { chat } = await request.json()
    const headers = { authorization: 'Bearer ' + sim.apiKey, 'content-type': 'application/json' }
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })
    void sim.fetch(new Request(sim.baseUrl + '/api/v2/handover/start', { method: 'POST', headers, body }))
    return new Response()
  },
}
`

it.each([
  ['passes with an app that starts the handover', APP, ''],
  [
    'fails with an app that does nothing',
    'const app = { webhook: () => new Response() }',
    'ExpectationError: x step 1: start was not called within 1800ms: the intermediary made no call at all',
  ],
])('the program of README %s', async (_, app, says) => {
  const [program = ''] = blocks(read('README.md'), 'js')
  const { code, stdout, stderr } = await run(process.execPath, [moduleWith(`${app}\n${program}`)])
  expect({ code, stdout }).toEqual({ code: says === '' ? 0 : 1, stdout: '' })
  expect(stderr).toContain(says)
})

/** The programs of docs/library.md, as they stand there, with the built package. `npm test` builds first. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { blocks, pathOf, read, run } from './pages.ts'

/** Inside the repository, where the package can be imported by its own name, and where git does not look. */
function moduleWith(text: string): string {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'library-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'program.mjs'), text)
  return join(folder, 'program.mjs')
}

const programs = blocks(read('docs/library.md'), 'js')

it('there are programs', () => expect(programs).toHaveLength(2))

it.each(programs.map((text, index) => [index + 1, text] as const))(
  'program %i prints what its comments say',
  async (_, text) => {
    const promised = [...text.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, said]) => said)
    const { code, stdout, stderr } = await run(process.execPath, [moduleWith(text)])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(promised)
    expect(promised.length).toBeGreaterThan(0)
  },
)

/** What the program of README calls `app`: it takes over whenever it is asked to. */
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
  ['passes with an app that takes over', APP, ''],
  [
    'fails with one that does not',
    'const app = { webhook: () => new Response() }',
    'ExpectationError: x the intermediary made no call at all',
  ],
])('the program of README %s', async (_, app, says) => {
  const [program = ''] = blocks(read('README.md'), 'js')
  const { code, stdout, stderr } = await run(process.execPath, [moduleWith(`${app}\n${program}`)])
  expect({ code, stdout }).toEqual({ code: says === '' ? 0 : 1, stdout: '' })
  expect(stderr).toContain(says)
})

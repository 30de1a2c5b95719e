/** Runs the tests that docs/explore.md shows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { blocks, pathOf, read } from './pages.ts'

const shown = blocks(read('docs/explore.md'), 'ts')

/** Receives the tests of the page in place of vitest, and is its intermediary. */
interface Shim {
  readonly tests: { readonly name: string; run(): Promise<void> }[]
}

const INTERMEDIARY = `
import { createSimulator as create } from '${pathToFileURL(pathOf('src/index.ts')).href}'
const inboxes = new Map()
const inboxOf = id => inboxes.get(id) ?? inboxes.set(id, []).get(id)
let sim
export const createSimulator = options => (sim = create(options))
export const shim = { tests: [] }
export const test = (name, run) => shim.tests.push({ name, run })
export async function webhook(request) {
  const { event, chat, message } = await request.json()
  if (event === 'REQUESTING TAKEOVER') inboxOf(chat.id).push({ request: true })
  if (event === 'MESSAGE FROM USER') inboxOf(chat.id).push({ text: message })
  return new Response('ok')
}
async function post({ chat }, path, body) {
  const headers = { authorization: 'Bearer ' + sim.apiKey, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, ...body }) }
  const call = () => sim.fetch(sim.baseUrl + '/api/v2/handover/' + path, init).catch(() => Response.error())
  return (await call()).ok || (await call()).ok
}
export const agent = {
  accept: context => post(context, 'start'),
  says: context => post(context, 'message', { message: context.text }),
  leave: context => post(context, 'end'),
  inbox: ({ chat }) => inboxOf(chat.id),
}
`

it.each([0, 1])('shows a test that passes (%i)', async index => {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'explore-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const source = shown[index]!.replace("from 'vitest'", "from './intermediary.js'")
    .replace("'handover-sim/certify'", `'${pathToFileURL(pathOf('src/testing/certify.ts')).href}'`)
    .replace("'handover-sim'", "'./intermediary.js'")
  writeFileSync(join(folder, 'intermediary.js'), INTERMEDIARY)
  writeFileSync(join(folder, 'page.ts'), source)
  await import(join(folder, 'page.ts'))
  const { shim } = (await import(join(folder, 'intermediary.js'))) as { shim: Shim }
  const [first] = shim.tests
  expect(first?.name).toBe('no conversation breaks it')
  await first?.run()
})

/** Runs the tests that docs/how-to/explore.md shows. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { createSmallIntermediary } from '../explorer/small-intermediary.ts'
import { blocks, pathOf, read } from './pages.ts'
import { moduleFolder } from './project.ts'

/** Receives the tests of the page in place of vitest, and is its intermediary. */
interface Shim {
  readonly tests: { readonly name: string; run(): Promise<void> }[]
  use(create: typeof createSmallIntermediary): void
}

const urlOf = (file: string) => pathToFileURL(pathOf(file)).href

const INTERMEDIARY = `
import { createSimulator as create } from '${urlOf('src/index.ts')}'
let sim
export const createSimulator = options => (sim = create(options))
export const shim = { tests: [] }
export const test = (name, run) => shim.tests.push({ name, run })
export let agent, webhook
shim.use = create => ({ agent, webhook } = create(() => sim))
`

it.each(blocks(read('docs/how-to/explore.md'), 'ts').slice(0, 2))('shows a test that passes (%#)', async text => {
  const page = text
    .replace("from 'vitest'", "from './intermediary.js'")
    .replace("'handover-sim/certify'", `'${urlOf('src/testing/certify.ts')}'`)
    .replace("'handover-sim'", "'./intermediary.js'")
    // The page takes a minute: a few conversations show that it runs.
    .replace('conversations: 200', 'conversations: 5')
    .replace('numRuns: 20', 'numRuns: 2')
  const folder = moduleFolder({ 'intermediary.js': INTERMEDIARY, 'page.ts': page })
  await import(join(folder, 'page.ts'))
  const { shim } = (await import(join(folder, 'intermediary.js'))) as { shim: Shim }
  shim.use(createSmallIntermediary)
  const [first] = shim.tests
  expect(first?.name).toBe('no conversation breaks it')
  await first?.run()
})

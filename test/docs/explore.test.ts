/** Runs the tests that docs/how-to/explore.md shows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createSmallIntermediary } from '../explorer/small-intermediary.ts'
import { blocks, pathOf, read } from './pages.ts'

const shown = blocks(read('docs/how-to/explore.md'), 'ts')

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

it.each([0, 1])('shows a test that passes (%i)', async index => {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'explore-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const source = shown[index]!.replace("from 'vitest'", "from './intermediary.js'")
    .replace("'handover-sim/certify'", `'${urlOf('src/testing/certify.ts')}'`)
    .replace("'handover-sim'", "'./intermediary.js'")
  writeFileSync(join(folder, 'intermediary.js'), INTERMEDIARY)
  writeFileSync(join(folder, 'page.ts'), source)
  await import(join(folder, 'page.ts'))
  const { shim } = (await import(join(folder, 'intermediary.js'))) as { shim: Shim }
  shim.use(createSmallIntermediary)
  const [first] = shim.tests
  expect(first?.name).toBe('no conversation breaks it')
  await first?.run()
})

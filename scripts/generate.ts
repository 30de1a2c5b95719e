/** Generates files from code: pages of docs/, JSON Schemas, signature vectors. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { checksPage } from './checks-page.ts'
import { pagesWithBlocks, pageWithBlocks } from './generated-blocks.ts'
import { assumptionsPage, endpointsPage, scenarioCataloguePage } from './generated-pages.ts'
import { goingLivePage } from './going-live-page.ts'
import { schemaFiles } from './json-schemas.ts'
import { libraryPage } from './library-page.ts'
import { llmsText } from './llms-text.ts'
import { fileText, tableText } from './signature-vectors.ts'
import { CLIENTS } from './test-clients.ts'
import { architecturePage } from './walks-page.ts'

const root = new URL('..', import.meta.url)
const FILES: Record<string, () => string | Promise<string>> = {
  'docs/explanation/architecture.md': architecturePage,
  'docs/reference/assumptions.md': assumptionsPage,
  'docs/reference/endpoints.md': endpointsPage,
  'docs/reference/api.md': libraryPage,
  'docs/how-to/going-live.md': goingLivePage,
  'docs/reference/checks/README.md': checksPage,
  'docs/reference/scenarios-catalogue.md': scenarioCataloguePage,
  ...Object.fromEntries(pagesWithBlocks().map(file => [file, () => pageWithBlocks(file)])),
  'llms.txt': llmsText,
  ...CLIENTS,
  'fixtures/signatures/vectors.json': fileText,
  'fixtures/signatures/vectors.tsv': tableText,
  ...Object.fromEntries(Object.entries(schemaFiles()).map(([name, text]) => [`schema/${name}`, () => text])),
}

const check = process.argv.includes('--check')
for (const [name, make] of Object.entries(FILES)) {
  const path = new URL(name, root)
  const text = await make()
  if (!check) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${name} is out of date. Run: npm run generate`)
    process.exitCode = 1
  }
}

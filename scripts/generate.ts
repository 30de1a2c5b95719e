/** Generates files from code: blocks of the pages of docs/, JSON Schemas. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { pagesWithBlocks, pageWithBlocks } from './generated-blocks.ts'
import { schemaFiles } from './json-schemas.ts'
import { libraryPage } from './library-page.ts'

const root = new URL('..', import.meta.url)
const FILES: Record<string, () => string | Promise<string>> = {
  'docs/reference/api.md': libraryPage,
  ...Object.fromEntries(pagesWithBlocks().map(file => [file, () => pageWithBlocks(file)])),
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

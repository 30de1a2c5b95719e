/** Builds dist/: the bundles, the page, the types, and the licences of bundled packages; and the texts for coding assistants. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { buildBundles } from './build/bundles.ts'
import { buildPage } from './build/page.ts'
import { buildTypes } from './build/types.ts'
import { collectLicences } from './licences.ts'
import { llmsFullText, llmsText } from './llms-text.ts'

const root = new URL('..', import.meta.url).pathname
rmSync(`${root}dist`, { recursive: true, force: true })
mkdirSync(`${root}dist`)

const bundles = await buildBundles(root)
const page = await buildPage(root)
collectLicences(root, [...bundles.flat(), ...page])
buildTypes(root)
writeFileSync(`${root}llms.txt`, llmsText())
writeFileSync(`${root}llms-full.txt`, llmsFullText())

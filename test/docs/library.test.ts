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

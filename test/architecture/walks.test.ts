/** Checks how many files of src a call, a delivery, an expectation and a run execute, and that the page lists them. */
import { describe, expect, it } from 'vitest'
import { LIMITS, measureWalk, WALKS } from '../../scripts/walks-page.ts'
import { read } from './files.ts'

const PAGE = read('docs/explanation/architecture.md')
const blockOf = (walk: string) => PAGE.split(`<!-- measured: ${walk} -->\n`)[1]!.split('<!-- end -->')[0]!

describe.each(WALKS)('the walk of one %s', walk => {
  it(`executes at most ${LIMITS[walk]} files, as docs/explanation/architecture.md shows them`, async () => {
    const files = await measureWalk(walk)
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(LIMITS[walk])
    const shown = [...blockOf(walk).matchAll(/^\d+\. `src\/([^`]+)`/gm)].map(([, file]) => file!)
    if (walk === 'run') expect(blockOf(walk)).toBe(`at most ${LIMITS.run} files.\n`)
    else expect(shown.sort(), 'run npm run generate').toEqual(files.sort())
  })
})

/** Checks how many files of src a call and a delivery execute; `npm run check` compares the lists on the page. */
import { expect, it } from 'vitest'
import { LIMITS, measureWalk, WALKS } from '../../scripts/walks-page.ts'

it.each(WALKS)('the walk of one %s executes few files', async walk => {
  const files = await measureWalk(walk)
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(LIMITS[walk])
})

/** Checks the lists of files on the page of the architecture: what a call and a delivery execute, and that they are few. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ROOT, read } from './files.ts'

const PAGE = read('docs/explanation/architecture.md')

/** Returns the files of src that the walk executed, by name. */
async function measureWalk(walk: string): Promise<string[]> {
  const script = join(ROOT, 'test/architecture/measure-walks.ts')
  // A usual run has no variables of handover-sim that it does not know.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HANDOVER_SIM_')))
  const { stdout } = await promisify(execFile)(process.execPath, [script, walk], { timeout: 120_000, env })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as string[]
}

/** The first sentence of the comment that a file begins with. */
function purposeOf(file: string): string {
  const [, comment = ''] = /^\/\*\*\s*([\s\S]*?)\*\//.exec(read(file))!
  const text = comment
    .replace(/\s*\n\s*\*?\s*/g, ' ')
    .replace(/^\* /, '')
    .trim()
  return /^.*?[.:](?=\s|$)/s.exec(text)![0].replace(/:$/, '.')
}

it.each([
  ['message', 15],
  ['delivery', 16],
])('the walk of one %s executes at most %i files, which the page lists with their purpose', async (walk, most) => {
  const files = await measureWalk(walk)
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(most)
  const [, listed = ''] = new RegExp(`<!-- measured: ${walk} -->\\n([\\s\\S]*?)<!-- end -->`).exec(PAGE)!
  // In the order in which they first act, which coverage does not show.
  const lines = listed.trim().split('\n').slice(2)
  expect(listed).toMatch(new RegExp(`^${files.length} files, in the order`))
  expect(lines.map(line => line.replace(/^\d+\. /, '')).sort()).toEqual(
    files.map(file => `\`src/${file}\`: ${purposeOf(`src/${file}`)}`).sort(),
  )
})

/** Writes the measured walks into docs/explanation/architecture.md: the files that a call and a delivery execute. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The most files of each walk. */
export const LIMITS = { message: 15, delivery: 16 } as const
export type Walk = keyof typeof LIMITS
export const WALKS = Object.keys(LIMITS) as Walk[]

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const sourceOf = (file: string) => readFileSync(join(ROOT, 'src', file), 'utf8')

/** Returns the files of src that the walk executed, by name. */
export async function measureWalk(walk: Walk): Promise<string[]> {
  const script = join(ROOT, 'scripts/measure-walks.ts')
  // A usual run has no variables of handover-sim that it does not know.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HANDOVER_SIM_')))
  const { stdout } = await promisify(execFile)(process.execPath, [script, walk], { timeout: 120_000, env })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as string[]
}

/** The first sentence of the comment that a file begins with. */
const purposeOf = (file: string): string => {
  const [, comment] = /^\/\*\*\s*([\s\S]*?)\*\//.exec(sourceOf(file))!
  return /^.*?[.:](?=\s|$)/s
    .exec(
      comment!
        .replace(/\s*\n\s*\*?\s*/g, ' ')
        .replace(/^\* /, '')
        .trim(),
    )![0]
    .replace(/:$/, '.')
}

/** Returns the page with the measured lists. */
export async function architecturePage(): Promise<string> {
  let page = readFileSync(join(ROOT, 'docs/explanation/architecture.md'), 'utf8')
  for (const walk of WALKS) {
    const files = await measureWalk(walk)
    const block = new RegExp(`(<!-- measured: ${walk} -->\\n)([\\s\\S]*?)(<!-- end -->)`)
    const [, , listed] = block.exec(page) ?? []
    if (listed === undefined) throw new Error(`docs/explanation/architecture.md has no place for the walk ${walk}.`)
    // A person has put them into the order in which they first act, which coverage does not show.
    const known = [...listed.matchAll(/`src\/([^`]+)`/g)].map(([, file]) => file!).filter(file => files.includes(file))
    const ordered = [...known, ...files.filter(file => !known.includes(file))]
    const list = ordered.map((file, index) => `${index + 1}. \`src/${file}\`: ${purposeOf(file)}\n`).join('')
    const text = `${files.length} files, in the order in which they first act:\n\n${list}`
    page = page.replace(block, (_, begin: string, _listed: string, end: string) => `${begin}${text}${end}`)
  }
  return page
}

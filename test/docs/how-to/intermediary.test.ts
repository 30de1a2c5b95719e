/** Checks that docs/how-to/intermediary.md shows lines of the examples, and for each point all languages of its table. */
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inlineCode, pathOf, read, rows } from '../pages.ts'

const PAGE = read('docs/how-to/intermediary.md')
const [, ...TABLE] = rows(PAGE)
const LANGUAGES = TABLE.map(([name = '', link = '', files = '']) => ({
  name: name.replace('C#', 'csharp').toLowerCase(),
  folder: /examples\/intermediary-\w+/.exec(link)![0],
  files: inlineCode(files),
}))

const isBlank = (line: string) => line.trim() === ''

/** Removes the white space that all lines have at their beginning. */
function dedent(lines: readonly string[]): string {
  const indents = lines.filter(line => !isBlank(line)).map(line => /^\s*/.exec(line)![0].length)
  const least = Math.min(...indents)
  return lines.map(line => line.slice(least)).join('\n')
}

/** Whether a file has these lines together, at any depth. */
function contains(file: string, block: string): boolean {
  const lines = read(file).split('\n')
  const { length } = block.split('\n')
  return lines.some((_, at) => dedent(lines.slice(at, at + length)) === block)
}

it('has a table with an example of each language, and its files', () => {
  expect(LANGUAGES.map(({ name }) => name)).toEqual(['csharp', 'php', 'python', 'java', 'ruby', 'go'])
  for (const { folder, files } of LANGUAGES) expect(readdirSync(pathOf(folder))).toEqual(expect.arrayContaining(files))
})

it('shows all languages in each section, with lines of the examples', () => {
  const sections = PAGE.split('\n## ').slice(1)
  expect(sections).toHaveLength(5)
  for (const section of sections) {
    const blocks = [...section.matchAll(/^```(\w+)\n(.*?)\n```$/gms)]
    expect(blocks.map(([, language]) => language)).toEqual(LANGUAGES.map(({ name }) => name))
    blocks.forEach(([, , block], index) => {
      const { folder } = LANGUAGES[index]!
      const sources = readdirSync(pathOf(folder)).filter(file => /\.(cs|php|py|java|rb|go)$/.test(file))
      const found = sources.some(file => contains(`${folder}/${file}`, block!))
      expect(found, `${folder} has these lines:\n${block}`).toBe(true)
    })
  }
})

it('the drivers differ in their target only', () => {
  const verbsOf = (folder: string) =>
    read(`${folder}/driver.yaml`)
      .split('\ntarget:')[0]!
      .replace(/^#.*\n/gm, '')
  for (const { folder } of LANGUAGES) expect(verbsOf(folder)).toBe(verbsOf('examples/intermediary-python'))
})

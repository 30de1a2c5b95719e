/** Checks that docs/how-to/intermediary.md shows lines of the examples, and for each point all languages of its table. */
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { pathOf, read, rows } from '../pages.ts'

const PAGE = read('docs/how-to/intermediary.md')
const EXAMPLES = rows(PAGE)
  .slice(1)
  .map(([name = '', link = '']) => {
    const folder = /examples\/intermediary-\w+/.exec(link)![0]
    const sources = readdirSync(pathOf(folder)).filter(file => /\.(cs|php|py|java|rb|go)$/.test(file))
    const text = sources.map(file => read(`${folder}/${file}`)).join('\n')
    return { language: name.replace('C#', 'csharp').toLowerCase(), text }
  })
/** Text at any depth. */
const dedented = (text: string) => text.replace(/^[ \t]+/gm, '').trim()

it.each(PAGE.split('\n## ').slice(1))('shows all languages with lines of the examples in section %#', section => {
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)\n```$/gms)]
  expect(blocks.map(([, language]) => language)).toEqual(EXAMPLES.map(({ language }) => language))
  blocks.forEach(([, , block], index) => void expect(dedented(EXAMPLES[index]!.text)).toContain(dedented(block!)))
})

/** Checks the names of src: exported names are unique, and terms of the field take the place of metaphors. */
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportsOf, nodesOf, SOURCES } from './source.ts'

/** Words that the glossary replaces, compared with each word of an identifier, file or folder name. */
const METAPHORS = new Set(
  `court courtroom bench ledger referee ruling charge judge judging theatre scene puppet parlour household house lobby
  room rooms door doors twin twins parcel parcels lane lanes struck strike suffer spoil spoilt spoils spare leftover
  leftovers stray strays ink pulse retelling tape lean leans wish wishes books told said came nobody anybody somebody
  whoever home stranger odd oddly oddity oddities gone surroundings complaints`.split(/\s+/),
)
/** Names of Node, of the DOM and of HTTP that contain such a word. */
const FOREIGN_NAMES = new Set(['homedir', 'Home'])

const wordsOf = (name: string): string[] => name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map(word => word.toLowerCase())
const isMetaphor = (name: string) => !FOREIGN_NAMES.has(name) && wordsOf(name).some(word => METAPHORS.has(word))
const identifiersOf = (file: string): string[] => [
  ...new Set(
    nodesOf(file).flatMap(({ type, name }) => (type === 'Identifier' && typeof name === 'string' ? [name] : [])),
  ),
]

/** A variant for browsers exports the names of the file that it replaces. */
const isBrowserVariant = (file: string) => file.endsWith('.browser.ts')

/** Files whose identifiers are not compared with the list. */
const NOT_COMPARED = /^testing\/count-matches\.ts$/

describe('names', () => {
  it('every exported name is unique', () => {
    const files = new Map<string, string[]>()
    for (const file of SOURCES.filter(one => !isBrowserVariant(one)))
      for (const name of exportsOf(file)) files.set(name, [...(files.get(name) ?? []), file])
    const shared = [...files].filter(([, exporting]) => exporting.length > 1)
    expect(shared.map(([name, exporting]) => `${name}: ${exporting.join(', ')}`)).toEqual([])
  })

  it('no identifier is a metaphor', () => {
    const files = SOURCES.filter(file => !NOT_COMPARED.test(file))
    expect(
      files.flatMap(file =>
        identifiersOf(file)
          .filter(isMetaphor)
          .map(name => `${file}: ${name}`),
      ),
    ).toEqual([])
  })

  it('no file or folder has the name of a metaphor', () => {
    expect(SOURCES.filter(file => file.split('/').some(part => isMetaphor(basename(part, '.ts'))))).toEqual([])
  })
})

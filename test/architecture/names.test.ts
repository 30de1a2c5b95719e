/** Checks the names of src: terms of the field take the place of metaphors. */
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodesOf, SOURCES } from './source.ts'

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

/** Files whose identifiers are not compared with the list. */
const NOT_COMPARED = /^testing\/count-matches\.ts$/

describe('names', () => {
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

/** Checks the comments of src for personification and vague subjects. */
import { expect, it } from 'vitest'
import { read } from './files.ts'
import { commentsOf, SOURCES } from './source.ts'

const BANNED_PHRASES = [
  'nobody',
  'anybody',
  'everybody',
  'somebody',
  'whoever',
  'whomever',
  'what came of',
  'is told',
  'are told',
  'was told',
  'were told',
  'has to say',
  'of its own accord',
  'its own room',
  'none of its business',
  'is at home',
  'goes home',
  'of ours',
  'once and for all',
  'by and by',
  'so to speak',
  'lets go',
  'let go',
  'stumble',
  'strikes',
  'struck',
  'spoilt',
  'suffers',
]
/** `has not` is an inversion ("fields it has not"), except in a perfect tense ("has not ended"). */
const BANNED = new RegExp(`\\b(${BANNED_PHRASES.join('|')}|(has|have) not(?! \\w+ed\\b))\\b`, 'i')

it('no comment has a banned phrase', () => {
  const found = SOURCES.flatMap(file =>
    commentsOf(file)
      .filter(comment => BANNED.test(comment))
      .map(comment => `${file}: ${BANNED.exec(comment)![0]}: ${comment}`),
  )
  expect(found).toEqual([])
})

it('every file begins with a comment that says what it does', () => {
  const silent = SOURCES.filter(file => !/^\/\*\* ?\S|^\/\*\*\n \* \S/.test(read(`src/${file}`)))
  expect(silent).toEqual([])
})

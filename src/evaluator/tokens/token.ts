/**
 * A short mark put behind a user's text, so that the text is known again wherever it turns up: ` ⟦k3f9x2⟧`. The
 * brackets are rare in what people write and outside of ASCII, so a wrong decoding damages them visibly.
 */
import { hashWords } from '../../runtime/random.ts'

const SIGNS = 6
const RADIX = 36
const TOKEN = /⟦[0-9a-z]{6}⟧/g
const APPENDED = / ?⟦[0-9a-z]{6}⟧/g

/** The same seed text makes the same token; it begins with the space that parts it from the text. */
export function makeToken(seedText: string): string {
  const [a, b] = hashWords(seedText, 0)
  const word = (((a & 0xfffff) * 2 ** 32 + b) % RADIX ** SIGNS).toString(RADIX).padStart(SIGNS, '0')
  return ` ⟦${word}⟧`
}

/** The text as it was before. An engine may translate around a token, so it is taken out wherever it stands. */
export const stripToken = (text: string): string => text.replace(APPENDED, '')

/** Without the space; in the order they stand. */
export const tokensIn = (text: string): string[] => text.match(TOKEN) ?? []

import { stringsIn } from '../scenario/interpolation.ts'
import { callText, type Rule } from './rule.ts'

/** Half of a character above U+FFFF, or what a decoder writes for bytes that are no character. */
const BROKEN = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\ufffd/

/** Reports texts of the intermediary that lost a part of a character. A text of the user with the same sign may come back. */
export const brokenCharacters: Rule = {
  id: 'broken-characters',
  level: 'SHOULD',
  *judgeChat({ entries }) {
    const given = new Set<string>()
    for (const entry of entries) {
      if (entry.kind === 'user' && entry.text !== undefined && BROKEN.test(entry.text)) given.add(entry.text)
      if (entry.kind !== 'api') continue
      const isQuoted = (text: string) => [...given].some(userText => text.includes(userText))
      const broken = stringsIn(entry.request.body).find(text => BROKEN.test(text) && !isQuoted(text))
      if (broken === undefined) continue
      const [sign = ''] = BROKEN.exec(broken) ?? []
      const name = `U+${sign.charCodeAt(0).toString(16).toUpperCase()}`
      const what =
        sign === '\ufffd' ? 'the sign for bytes that are no character' : 'half of a character such as an emoji'
      yield {
        happened: `${callText(entry)} has ${name}, ${what}, in a text. The user sees a box or a question mark.`,
        hint: 'Cut texts between characters and not between UTF-16 units or bytes, and decode a stream of bytes as a whole.',
        entries: [entry],
      }
    }
  },
}

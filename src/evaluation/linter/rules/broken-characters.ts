import { stringsIn } from '../../scenario/interpolation.ts'
import { callText, type LinterRule } from './rule.ts'

/** Half of a character above U+FFFF, or what a decoder writes for bytes that are no character. */
const BROKEN = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\ufffd/

/** Reports texts of the intermediary that lost a part of a character. A text of the user with the same sign may come back. */
export const brokenCharacters: LinterRule = {
  id: 'broken-characters',
  *findInChat(chat) {
    const given = new Set<string>()
    for (const entry of chat) {
      if (entry.kind === 'user' && entry.text !== undefined) given.add(entry.text)
      if (entry.kind !== 'api') continue
      const text = stringsIn(entry.request.body).find(one => BROKEN.test(one) && !isQuoted(one, given))
      if (text === undefined) continue
      const [sign = ''] = BROKEN.exec(text) ?? []
      const name = `U+${sign.charCodeAt(0).toString(16).toUpperCase()}`
      const what =
        sign === '\ufffd' ? 'the sign for bytes that are no character' : 'half of a character such as an emoji'
      const happened = `${callText(entry)} has ${name}, ${what}, in a text. The user sees a box or a question mark. Cut texts between characters and not between UTF-16 units or bytes, and decode a stream of bytes as a whole.`
      yield { happened, entrySeqs: [entry.seq] }
    }
  },
}

/** Whether the text contains one of the user, who may have sent the sign. */
const isQuoted = (text: string, given: ReadonlySet<string>): boolean =>
  [...given].some(one => BROKEN.test(one) && text.includes(one))

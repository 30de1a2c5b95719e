import { isMap } from '../../base/objects.ts'
import { cut } from '../../base/text/cut.ts'
import type { CallEntry, ChatHistory } from '../history.ts'
import { callText, type Rule } from './rule.ts'

/** Matches a text of spaces and of signs without width, of which the user sees nothing. */
const BLANK = /^[\s\u00ad\u200b-\u200f\u2060\ufeff]+$/
/** Matches what programming languages write for a missing value, also for first and last name. */
const MISSING = /^\s*(undefined|null|NaN|None|nil)(\s+\1)*\s*$/
const OBJECT = /\[object [A-Z]\w*\]/
const TEMPLATE = /\{\{\s*[\w.]+\s*\}\}|\$\{[\w.]+\}|<%=[^%]*%>|%\{\w+\}/

/** Reports names and texts that a program made for a missing value. The same words are right when the user or the agent wrote them. */
export const placeholderText: Rule = {
  id: 'placeholder-text',
  level: 'SHOULD',
  *judgeChat(chat) {
    const written = writtenTexts(chat)
    for (const { call } of chat.calls) {
      for (const [field, text] of shownTexts(call)) {
        const placeholder = placeholderIn(text)
        const shown = cut(text, MAX_CHARS)
        if (placeholder === null || written.some(own => own === text || own.includes(placeholder.words))) continue
        yield {
          happened: `${callText(call)} has ${JSON.stringify(shown)} as ${field}: ${placeholder.what}. The user sees it so.`,
          hint: 'Give a value that is missing a default before the call: for a name, such as "Support"; for a text, leave out the call.',
          details: { field, text: shown },
          entries: [call],
        }
      }
    }
  },
}

const MAX_CHARS = 100

const PLACEHOLDERS = [
  [BLANK, 'nothing that can be seen'],
  [MISSING, 'what a program writes for a missing value'],
  [OBJECT, 'what JavaScript writes for an object in a text'],
  [TEMPLATE, 'a template with a place that nothing filled'],
] as const

function placeholderIn(text: string): { readonly words: string; readonly what: string } | null {
  for (const [pattern, what] of PLACEHOLDERS) {
    const [words] = pattern.exec(text) ?? []
    if (words !== undefined) return { words, what }
  }
  return null
}

/** What users and agents wrote in this chat. */
const writtenTexts = ({ userActs, agentActs }: ChatHistory): string[] =>
  [...userActs, ...agentActs].flatMap(({ text }) => (typeof text === 'string' ? [text] : []))

/** The parts of a call that the user sees, by the name of their field. */
function* shownTexts({ request: { body } }: CallEntry): Generator<readonly [field: string, text: string]> {
  if (!isMap(body)) return
  const { sender, message, buttons } = body
  if (isMap(sender) && typeof sender.name === 'string') yield ['sender.name', sender.name]
  if (typeof message === 'string') yield ['message', message]
  for (const [index, button] of (Array.isArray(buttons) ? buttons : []).entries())
    if (isMap(button) && typeof button.label === 'string') yield [`buttons[${index}].label`, button.label]
}

/** Checks rules over a whole map, which no schema of its keys can express. */
import * as z from 'zod/mini'
import { type SchemaProblemCode, sentenceIssue } from '../../contract/explain-issues.ts'
import { isMap } from '../../files/is-map.ts'
import { defineTexts } from '../../text/texts.ts'

export interface BrokenRule {
  readonly code: SchemaProblemCode
  /** Is printed after the name of the map. */
  readonly message: string
}

/** The map lacks what gives it a meaning; a misspelt key in it explains that. */
export const incomplete = (message: string): BrokenRule => ({ code: 'incomplete', message })
/** The map holds keys that exclude each other. */
export const conflict = (message: string): BrokenRule => ({ code: 'conflict', message })

type Fields = Readonly<Record<string, unknown>>

/** Checks a rule of maps, also when something in the map is wrong. */
export const ruled = <Value>(rule: (map: Fields) => BrokenRule | undefined): z.core.$ZodCheck<Value> =>
  z.check<Value>(
    ctx => {
      const broken = isMap(ctx.value) ? rule(ctx.value) : undefined
      if (broken !== undefined)
        ctx.issues.push({ ...sentenceIssue(broken.code, ctx.value, broken.message), continue: true })
    },
    { when: () => true },
  )

/** Requires one of `names`. */
export const lacking = (map: Fields, names: readonly string[]): BrokenRule | undefined =>
  names.every(name => !(name in map)) ? incomplete(RULE_TEXTS.oneOf(names)) : undefined

/** The names that have a value. */
export const present = (map: Fields, names: readonly string[]): string[] =>
  names.filter(name => map[name] !== undefined)

export const RULE_TEXTS = defineTexts({
  oneOf: (names: readonly string[]) => `must have ${names.join(' or ')}`,
  noCall: (calls: readonly string[]) => `must name a call: ${calls.join(', ')}`,
  noCallOrGroup: (calls: readonly string[]) => `must name a call: ${calls.join(', ')}; or all, seq, oneOf`,
  severalCalls: (names: readonly string[]) =>
    `names ${names.join(' and ')}: name one call, or put them into all, seq or oneOf`,
  optionOfGroup: (option: string, group: string) => `has ${option} beside ${group}: write it with the call it is about`,
  noDuration: 'an object that says for how long: { start: {}, for: 500ms }',
  sizeOfFile: 'has size_kb beside file: a file has its own size',
  noAttachment: 'must be { file } or { name, type, size_kb }',
  noAgentVerb: (words: readonly string[]) => `must have one of says, sees, does (or be one of ${words.join(', ')})`,
  foreignKey: (key: string, owner: string) => `has ${key}, which goes with ${owner}`,
  eventOrReplay: 'must have either event or replay',
  bodyOfReplay: 'has body beside replay: a replay sends the same bytes again',
  noSpeaker: 'must have one speaker: { user: text }, { bot: text } or { agent: name, text: text }',
  textOfOthers: 'has text, which only an agent row can have: { agent: name, text: text }',
  buttonsOfOthers: 'has buttons, which only a bot row can have',
  noText: 'must have the text: { agent: name, text: text }',
  severalVerbs: (verbs: readonly string[]) =>
    `has ${verbs.join(' and ')}: one verb per step, so make it ${verbs.length} steps`,
  noVerb: (verbs: readonly string[]) => `has no verb: one of ${verbs.join(', ')}`,
  chatAndChats: 'has chat and chats: put the one chat into chats, under a name',
  noChat: 'has no chat in chats: name one, or leave chats out',
})

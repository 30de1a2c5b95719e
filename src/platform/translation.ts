/** Decides when live translation applies (E4.7-E4.9), and defines the default engine, which marks the text visibly. */
import type { PlatformContext } from './context.ts'
import type { Chat } from './state.ts'

export interface Translation {
  readonly text: string
  readonly from: string
  readonly to: string
}
export type Translate = (text: string, from: string, to: string) => string | Promise<string>

/** Marks a text instead of translating it: `[no>en] Hei`. */
export const markTranslation: Translate = (text, from, to) => (text === '' ? '' : `[${from}>${to}] ${text}`)
export const sameText: Translate = text => text

/** The first language of the agent when none of them is the language of the chat; null when no translation is needed (E4.7, E4.8). */
export function agentLanguage(platform: PlatformContext, chat: Chat, codes: readonly string[] = []): string | null {
  const [first] = codes
  if (first === undefined || chat.language === '' || first === '') return null
  return codes.some(code => sameLanguage(platform, code, chat.language)) ? null : first
}

/** Compares without case and by primary subtag, unless `translation.match` says otherwise. */
function sameLanguage(platform: PlatformContext, a: string, b: string): boolean {
  const key = (code: string) => {
    const lower = code.toLowerCase()
    const cut = platform.knobs['translation.match'] === 'exact' ? lower : (lower.split(/[-_]/)[0] ?? lower)
    return aliasOf(platform, cut)
  }
  return key(a) === key(b)
}

function aliasOf(platform: PlatformContext, code: string): string {
  const pair = platform.knobs['translation.aliases'].find(alias => alias.toLowerCase().startsWith(`${code}=`))
  return pair === undefined ? code : pair.slice(code.length + 1).toLowerCase()
}

/** The texts of a language, or the English ones. Norwegian texts are those of `nb`. */
export function textsFor<Texts>(
  byLanguage: Readonly<Record<string, Texts>> & { readonly en: Texts },
  language: string,
) {
  const primary = language.toLowerCase().split('-')[0] ?? ''
  return byLanguage[primary === 'no' || primary === 'nn' ? 'nb' : primary] ?? byLanguage.en
}

/** The translation that a text of the user needs, or null. */
export function toAgent(chat: Chat, text: string): Translation | null {
  const to = chat.takeover?.agentLanguage ?? null
  return to === null || text === '' ? null : { text, from: chat.language, to }
}

/** The translation that a text of the agent needs, or null. */
export function toUser(chat: Chat, text: string): Translation | null {
  const from = chat.takeover?.agentLanguage ?? null
  return from === null || text === '' ? null : { text, from, to: chat.language }
}

/** The lanes of a scenario: its chats, and the fresh ones of parallel users. */
import type { ChatWritten, ScenarioFile } from '../format/scenario.ts'
import type { ConversationSpec } from '../plan.ts'

export interface Chats {
  /** Those the scenario names; `main` when it has one. */
  readonly names: readonly string[]
  /** The lane of a step that says nothing; null when it has to say. */
  readonly usual: string | null
  /** A new user's lane. */
  fresh(user: number): string
  use(conversation: string): void
  /** Those to be opened. */
  all(): ConversationSpec[]
}

const MAIN = 'main'

export function chatsOf(scenario: ScenarioFile): Chats {
  const named = scenario.chats === undefined ? { [MAIN]: scenario.chat ?? {} } : scenario.chats
  const names = Object.keys(named)
  const used = new Set<string>()
  const fresh: ConversationSpec[] = []
  return {
    names,
    usual: names.length === 1 ? names[0]! : null,
    fresh(user) {
      const name = `user ${fresh.length + 1}`
      fresh.push(conversationOf(name, scenario.chat ?? {}, { user }))
      return name
    },
    use: conversation => void used.add(conversation),
    all() {
      const declared = names.filter(name => fresh.length === 0 || scenario.chats !== undefined || used.has(name))
      return [...declared.map(name => conversationOf(name, named[name]!, {})), ...fresh]
    },
  }
}

/** A shipped conversation brings its own language, source, context and labels: null leaves them to it. */
function conversationOf(name: string, chat: ChatWritten, scope: ConversationSpec['scope']): ConversationSpec {
  const usual = <Value>(value: Value) => (chat.transcript === undefined ? value : null)
  return {
    name,
    language: chat.language ?? usual('en'),
    source: chat.source ?? usual('web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? usual(null),
    labels: chat.labels ?? usual(null),
    scope,
  }
}

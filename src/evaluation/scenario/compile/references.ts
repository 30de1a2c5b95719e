/** Resolves what steps refer to: chats, ids of earlier steps, and captures. */

import { nearest } from '../../../base/text/error-text.ts'
import type { Path } from '../format/scenario.ts'
import { type ChatInput, placeOf, type ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { Action, ConversationSpec } from '../plan.ts'
import { callsOf, patternsOf } from './call-patterns.ts'
import { RESERVED_NAMES } from './names.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

export type Chats = ReturnType<typeof chatsOf>

const MAIN = 'main'

export function chatsOf(scenario: ScenarioFile) {
  const named = scenario.chats === undefined ? { [MAIN]: scenario.chat ?? {} } : scenario.chats
  const names = Object.keys(named)
  const [only, ...others] = names
  const used = new Set<string>()
  const fresh: ConversationSpec[] = []
  return {
    /** The names in the scenario; `main` when it has one chat. */
    names,
    /** The conversation of a step without `chat`; null when `chat` is required. */
    defaultName: only !== undefined && others.length === 0 ? only : null,
    /** Adds the conversation of a parallel user. */
    fresh(user: number): string {
      const name = `user ${fresh.length + 1}`
      fresh.push(conversationOf(name, scenario.chat ?? {}, { user }))
      return name
    },
    use: (conversation: string): void => void used.add(conversation),
    /** The conversations to open. */
    all(): ConversationSpec[] {
      const declared = Object.entries(named).filter(
        ([name]) => fresh.length === 0 || scenario.chats !== undefined || used.has(name),
      )
      return [...declared.map(([name, chat]) => conversationOf(name, chat, {})), ...fresh]
    },
  }
}

/** Null means the language, source, context or labels of the shipped conversation. */
function conversationOf(name: string, chat: ChatInput, scope: ConversationSpec['scope']): ConversationSpec {
  const otherwise = <Value>(value: Value) => (chat.transcript === undefined ? value : null)
  return {
    name,
    language: chat.language ?? otherwise('en'),
    source: chat.source ?? otherwise('web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? otherwise(null),
    labels: chat.labels ?? otherwise(null),
    scope,
  }
}

/** Null for steps about no chat, and for lists of steps, where each step decides. */
export function conversationOfStep(
  chats: Chats,
  compiler: StepCompiler,
  step: Step,
  around: string | null,
): string | null {
  if (step.chat !== undefined) return named(chats, compiler, step.chat)
  const conversation = around ?? chats.defaultName
  if (conversation === null && (isAboutChat(step) || step.fault !== undefined)) {
    compiler.report([], COMPILE_TEXTS.unclearChat(chats.names))
  }
  return conversation
}

function named(chats: Chats, compiler: StepCompiler, written: string): string {
  const name = String(interpolateStatic(written, compiler.scope.values))
  if (chats.names.includes(name)) return name
  const hint = nearest(name, chats.names) || COMPILE_TEXTS.thereAre(chats.names)
  compiler.report(['chat'], COMPILE_TEXTS.unknownChat(name, hint))
  return name
}

const CHAT_VERBS = ['user', 'press', 'bot', 'deliver'] as const

/** Whether a step is about a chat; in a scenario with parallel users, a chat without such steps is not opened. */
export function isAboutChat(step: Step): boolean {
  if (CHAT_VERBS.some(verb => step[verb] !== undefined)) return true
  if (step.agent !== undefined) return step.agent !== 'away' && step.agent !== 'back'
  if (step.check !== undefined) return Object.keys(step.check).some(key => key !== 'availability')
  const calls = step.none ?? step.expect
  if (calls === undefined) return false
  // Availability calls are about the bot and not about a chat.
  const patterns = patternsOf(calls)
  return patterns.length === 0 || patterns.some(({ call }) => call !== 'availability')
}

/** Where a name is defined; repeated steps share a spot. */
type Spot = string
const spotOf = ({ written, path }: StepCompiler): Spot => `${written.path} ${written.at.join('.')} ${path.join('.')}`

interface Definition {
  readonly spot: Spot
  /** Shown in errors. */
  readonly at: string
}

/** The definitions of the whole plan. */
interface Registry {
  readonly ids: Map<string, Definition & { uses: number }>
  readonly captures: Map<string, Definition>
}

interface StepId {
  /** In the plan: `s1`, and `s1#2` in the second round of a repeat. */
  readonly id: string
  readonly verb: Action['verb']
}

export class Definitions {
  readonly #registry: Registry
  readonly #ids: Map<string, StepId>
  readonly #captures: Set<string>

  constructor(from?: Definitions) {
    this.#registry = from ? from.#registry : { ids: new Map(), captures: new Map() }
    this.#ids = new Map(from ? from.#ids : [])
    this.#captures = new Set(from ? from.#captures : [])
  }

  /** Names captured so far. */
  names(): Iterable<string> {
    return this.#captures
  }

  merge(branch: Definitions): void {
    for (const [name, marked] of branch.#ids) this.#ids.set(name, marked)
    for (const name of branch.#captures) this.#captures.add(name)
  }

  /** Defines the id of a step and returns its id in the plan. */
  define(compiler: StepCompiler, name: string, verb: Action['verb']): string {
    const spot = spotOf(compiler)
    const known = this.#registry.ids.get(name) ?? { spot, at: whereIs(compiler), uses: 0 }
    if (known.spot !== spot) compiler.report(['id'], COMPILE_TEXTS.duplicateId(known.at))
    known.uses += 1
    this.#registry.ids.set(name, known)
    const id = known.uses === 1 ? name : `${name}#${known.uses}`
    this.#ids.set(name, { id, verb })
    return id
  }

  /** The planned id for `since`, or for `replay`, which must name a step that sends an event. */
  idOf(compiler: StepCompiler, name: string, path: Path, sending: boolean): string | null {
    const marked = this.#ids.get(name)
    if (marked === undefined) {
      const known = [...this.#ids.keys()]
      const hint = nearest(name, known) || (known.length === 0 ? COMPILE_TEXTS.giveId : COMPILE_TEXTS.thereAre(known))
      compiler.report(path, COMPILE_TEXTS.unknownId(hint))
      return null
    }
    if (sending && !SENDING.includes(marked.verb)) {
      compiler.report(path, COMPILE_TEXTS.noEvent(marked.verb))
    }
    return marked.id
  }

  captures(compiler: StepCompiler, action: Action): void {
    if (action.verb !== 'expect') return
    const names = [...callsOf(action.tree)].flatMap(call => Object.keys(call.capture))
    for (const name of names) this.#capture(compiler, name)
  }

  #capture(compiler: StepCompiler, name: string): void {
    const spot = spotOf(compiler)
    const { values, deferred } = compiler.scope
    const known = this.#registry.captures.get(name)
    const taken =
      (RESERVED_NAMES.includes(name) && COMPILE_TEXTS.alwaysDefined) ||
      ((Object.hasOwn(values, name) || Object.hasOwn(deferred, name)) && COMPILE_TEXTS.givenName) ||
      (known !== undefined && known.spot !== spot && COMPILE_TEXTS.capturedAt(known.at))
    if (taken) compiler.report(['expect', 'capture', name], COMPILE_TEXTS.takenCapture(taken), 'key')
    if (known === undefined) this.#registry.captures.set(name, { spot, at: whereIs(compiler) })
    this.#captures.add(name)
  }
}

const SENDING: readonly Action['verb'][] = ['user', 'press', 'deliver']

function whereIs({ written, path }: StepCompiler): string {
  const place = placeOf(written, path)
  return place === null ? `${written.file} steps[${path.slice(1).join('.')}]` : `${place.file}:${place.line}`
}

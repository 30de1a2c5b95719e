/** Resolves what steps refer to: chats, ids of earlier steps, and captures. */
import { nearest } from '../../../base/text/error-text.ts'
import { type ChatInput, type Path, placeOf, type ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { Action, ConversationSpec } from '../plan.ts'
import { callsOf, patternsOf } from './call-patterns.ts'
import { existingNames, RESERVED_NAMES } from './names.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'

/** The chats of a scenario, and those of its parallel users. */
export class Chats {
  readonly #declared: Readonly<Record<string, ChatInput>>
  readonly #isNamed: boolean
  readonly #used = new Set<string>()
  readonly #ofUsers: ConversationSpec[] = []
  /** The names in the scenario; `main` when it has one chat. */
  readonly names: readonly string[]
  /** The conversation of a step without `chat`; null when `chat` is required. */
  readonly defaultName: string | null

  constructor({ chat, chats }: ScenarioFile) {
    this.#isNamed = chats !== undefined
    this.#declared = chats ?? { main: chat ?? {} }
    this.names = Object.keys(this.#declared)
    this.defaultName = this.names.length === 1 ? (this.names[0] ?? null) : null
  }

  /** Adds the conversation of a parallel user, which begins as `chat`. */
  addUser(user: number, chat: ChatInput): string {
    const name = `user ${this.#ofUsers.length + 1}`
    this.#ofUsers.push(conversationOf(name, chat, { user }))
    return name
  }

  use(conversation: string): void {
    this.#used.add(conversation)
  }

  /** The conversations to open: beside parallel users, the only chat is opened when a step uses it. */
  all(): ConversationSpec[] {
    const opened = Object.entries(this.#declared).filter(
      ([name]) => this.#ofUsers.length === 0 || this.#isNamed || this.#used.has(name),
    )
    return [...opened.map(([name, chat]) => conversationOf(name, chat, {})), ...this.#ofUsers]
  }

  /** Null for steps about no chat, and for lists of steps, where each step decides. */
  conversationOfStep(compiler: StepCompiler, step: Step, around: string | null): string | null {
    if (step.chat === undefined) {
      const conversation = around ?? this.defaultName
      if (conversation === null && (isAboutChat(step) || step.fault !== undefined))
        compiler.report([], `does not say which chat: write chat: ${this.names.join(' or chat: ')}`)
      return conversation
    }
    const name = String(interpolateStatic(step.chat, compiler.scope.values))
    if (!this.names.includes(name)) {
      const hint = nearest(name, this.names) || existingNames(this.names)
      compiler.report(['chat'], `${JSON.stringify(name)} is not a chat of this scenario${hint}`)
    }
    return name
  }
}

function conversationOf(name: string, chat: ChatInput, scope: ConversationSpec['scope']): ConversationSpec {
  // Null means that of the shipped conversation.
  const isShipped = chat.transcript !== undefined
  return {
    name,
    language: chat.language ?? (isShipped ? null : 'en'),
    source: chat.source ?? (isShipped ? null : 'web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? null,
    labels: chat.labels ?? null,
    scope,
  }
}

/** Whether a step is about a chat; in a scenario with parallel users, a chat without such steps is not opened. */
export function isAboutChat(step: Step): boolean {
  if (step.user !== undefined || step.press !== undefined || step.bot !== undefined || step.deliver !== undefined)
    return true
  if (step.agent !== undefined) return step.agent !== 'away' && step.agent !== 'back'
  if (step.check !== undefined) return Object.keys(step.check).some(key => key !== 'availability')
  const calls = step.none ?? step.expect
  if (calls === undefined) return false
  // Availability calls are about the bot and not about a chat.
  const patterns = patternsOf(calls)
  return patterns.length === 0 || patterns.some(({ call }) => call !== 'availability')
}

/** Where a name is defined; repeated steps share a position. */
interface Definition {
  readonly position: string
  /** Shown in errors. */
  readonly place: string
}

/** The ids and captures that steps can refer to; those of the whole plan are shared with every branch. */
export class Definitions {
  readonly #idsOfPlan: Map<string, Definition & { uses: number }>
  readonly #capturesOfPlan: Map<string, Definition>
  /** By id: the id in the plan, which is `s1#2` in the second round of a repeat, and the verb of the step. */
  readonly #ids: Map<string, { readonly id: string; readonly verb: Action['verb'] }>
  readonly #captures: Set<string>

  constructor(before?: Definitions) {
    this.#idsOfPlan = before ? before.#idsOfPlan : new Map()
    this.#capturesOfPlan = before ? before.#capturesOfPlan : new Map()
    this.#ids = new Map(before ? before.#ids : [])
    this.#captures = new Set(before ? before.#captures : [])
  }

  /** Names captured so far. */
  names(): Iterable<string> {
    return this.#captures
  }

  merge(branch: Definitions): void {
    for (const [name, step] of branch.#ids) this.#ids.set(name, step)
    for (const name of branch.#captures) this.#captures.add(name)
  }

  /** Defines the id of a step and returns its id in the plan. */
  define(compiler: StepCompiler, name: string, verb: Action['verb']): string {
    const here = definitionAt(compiler)
    const defined = this.#idsOfPlan.get(name) ?? { ...here, uses: 0 }
    if (defined.position !== here.position)
      compiler.report(['id'], `is taken: the step at ${defined.place} has it already`)
    defined.uses += 1
    this.#idsOfPlan.set(name, defined)
    const id = defined.uses === 1 ? name : `${name}#${defined.uses}`
    this.#ids.set(name, { id, verb })
    return id
  }

  /** The planned id for `since`, or for `replay`, which must name a step that sends an event. */
  idOf(compiler: StepCompiler, name: string, path: Path, isReplay: boolean): string | null {
    const step = this.#ids.get(name)
    if (step === undefined) {
      const ids = [...this.#ids.keys()]
      const hint = nearest(name, ids) || (ids.length === 0 ? '; give that step an id' : existingNames(ids))
      compiler.report(path, `names no earlier step${hint}`)
      return null
    }
    if (isReplay && !['user', 'press', 'deliver'].includes(step.verb))
      compiler.report(path, `names a step that sends no event: ${step.verb}; user, press and deliver do`)
    return step.id
  }

  /** Defines the names that a step captures. */
  defineCaptures(compiler: StepCompiler, action: Action): void {
    if (action.verb !== 'expect') return
    const { values, deferred } = compiler.scope
    const here = definitionAt(compiler)
    for (const { capture } of callsOf(action.tree))
      for (const name of Object.keys(capture)) {
        const defined = this.#capturesOfPlan.get(name)
        let why: string | null = null
        if (RESERVED_NAMES.includes(name)) why = 'it is always defined'
        else if (Object.hasOwn(values, name) || Object.hasOwn(deferred, name))
          why = 'it is one of vars, matrix or params'
        else if (defined !== undefined && defined.position !== here.position)
          why = `the step at ${defined.place} captures it`
        if (why !== null) compiler.report(['expect', 'capture', name], `is taken: ${why}; choose another name`, 'key')
        if (defined === undefined) this.#capturesOfPlan.set(name, here)
        this.#captures.add(name)
      }
  }
}

function definitionAt({ written, path }: StepCompiler): Definition {
  const place = placeOf(written, path)
  return {
    position: `${written.path} ${written.at.join('.')} ${path.join('.')}`,
    place: place === null ? `${written.file} steps[${path.slice(1).join('.')}]` : `${place.file}:${place.line}`,
  }
}

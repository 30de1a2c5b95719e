/**
 * Calls the two pluggable engines, translation and summary. They may return promises, which are awaited here, outside
 * the synchronous platform and in order per chat. Without promises everything stays synchronous.
 */
import type { Summarize, SummaryInput } from './summary.ts'
import type { Translate, Translation } from './translation.ts'

export interface Engines {
  readonly translate: Translate
  readonly summarize: Summarize
}

/** A value, or a promise of it. */
export type Maybe<T> = T | Promise<T>

/** Calls `next` with the value, now or when its promise resolves. */
export const andThen = <T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> =>
  value instanceof Promise ? value.then(next) : next(value)

/** The translated text, or the text as it is when there is nothing to translate. */
export function translated(engines: Engines, job: Translation | null, text: string): Maybe<string> {
  if (job === null) return text
  return andThen(native(engines.translate(job.text, job.from, job.to)), result => textFrom('translate', result))
}

export const summarized = (engines: Engines, input: SummaryInput): Maybe<string> =>
  andThen(native(engines.summarize(input)), result => textFrom('summarize', result))

/** Converts promises of any library, because engines are code of the user. */
const native = <T>(value: Maybe<T>): Maybe<T> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function' ? Promise.resolve(value) : value

function textFrom(engine: keyof Engines, result: unknown): string {
  if (typeof result === 'string') return result
  throw new TypeError(`The ${engine} engine must return a text, got ${result === null ? 'null' : typeof result}.`)
}

export type InOrder = <T>(chatId: string, run: () => Maybe<T>) => Maybe<T>

export interface ChatQueues {
  /** Runs one piece of work per chat at a time; different chats do not wait for each other. */
  readonly inOrder: InOrder
  /** Lets new work start without waiting for earlier work. */
  clear(): void
}

export function createChatQueues(): ChatQueues {
  const last = new Map<string, Promise<unknown>>()
  return {
    inOrder(chatId, run) {
      const before = last.get(chatId)
      const result = before === undefined ? run() : before.then(run, run)
      if (!(result instanceof Promise)) return result
      last.set(chatId, result)
      const leave = () => void (last.get(chatId) === result && last.delete(chatId))
      result.then(leave, leave)
      return result
    },
    clear: () => last.clear(),
  }
}

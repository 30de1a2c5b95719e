/**
 * The two pluggable engines, translation and summaries. They may return promises: those are awaited here, outside
 * the synchronous platform, in order per chat. Without promises everything stays in one step.
 */
import type { Summarize } from '../platform/summary.ts'
import type { Translate, Translation } from '../platform/translation.ts'

export interface Engines {
  readonly translate: Translate
  readonly summarize: Summarize
}

export type Maybe<T> = T | Promise<T>

/** Continues with a value now or once it is there. */
export const andThen = <T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Nothing to translate: the text as it is. */
export function translated(engines: Engines, job: Translation | null, text: string): Maybe<string> {
  return job === null ? text : engines.translate(job.text, job.from, job.to)
}

export type InOrder = <T>(chatId: string, run: () => Maybe<T>) => Maybe<T>

/** Runs one piece of work per chat at a time; different chats do not wait for each other. */
export function createLanes(): InOrder {
  const last = new Map<string, Promise<unknown>>()
  return (chatId, run) => {
    const before = last.get(chatId)
    const result = before === undefined ? run() : before.then(run, run)
    if (!(result instanceof Promise)) return result
    last.set(chatId, result)
    const leave = () => void (last.get(chatId) === result && last.delete(chatId))
    result.then(leave, leave)
    return result
  }
}

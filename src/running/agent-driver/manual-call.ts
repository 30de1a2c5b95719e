/** Executes a verb by asking a person at the terminal, one question at a time. */
import { createInterface } from 'node:readline'
import { messageOf } from '../../base/text/error-text.ts'
import { type CallOutcome, failed } from './call-outcome.ts'
import type { DriverChat, DriverContext, Prompt } from './driver.ts'

export type AskPerson = (
  prompt: Prompt,
  verb: string,
  context: DriverContext,
  signal: AbortSignal,
) => Promise<CallOutcome>

/** Queues the questions of scenarios that run at the same time. */
export function createPersonQueue(): AskPerson {
  let last: Promise<unknown> = Promise.resolve()
  return (prompt, verb, context, signal) => {
    const outcome = last.then(() => (signal.aborted ? RUN_ENDED : ask(prompt, verb, context, signal)))
    last = outcome
    return outcome
  }
}

const RUN_ENDED = failed({ code: 'run_ended' })

async function ask(prompt: Prompt, verb: string, context: DriverContext, signal: AbortSignal): Promise<CallOutcome> {
  try {
    const answer = await prompt(questionOf(verb, context), signal)
    return /^\s*s/i.test(answer) ? failed({ code: 'person_reported_failure' }) : { outcome: 'ok' }
  } catch (error) {
    return signal.aborted ? RUN_ENDED : failed({ code: 'prompt_failed', detail: messageOf(error) })
  }
}

const TASKS = {
  accept: (chat: string) => `accept ${chat}`,
  says: (chat: string, text = '') => `write ${JSON.stringify(text)} in ${chat}`,
  type: (chat: string) => `begin to type in ${chat}`,
  stop: (chat: string) => `stop typing in ${chat}`,
  leave: (chat: string) => `end ${chat}`,
  away: () => 'set every agent away',
  back: () => 'set an agent available',
}

export const questionOf = (verb: string, context: DriverContext): string =>
  `In the help desk: ${taskOf(verb, context)}, then press Enter; s to report a failure: `

const hasTask = (verb: string): verb is keyof typeof TASKS => Object.hasOwn(TASKS, verb)

function taskOf(verb: string, { chat, text, with: parameters = {} }: DriverContext): string {
  const shownChat = chat === null ? '' : describeChat(chat)
  if (hasTask(verb)) return TASKS[verb](shownChat, text)
  const shownParameters = Object.keys(parameters).length === 0 ? '' : ` ${JSON.stringify(parameters)}`
  return `do ${verb.replace(/^does\./, '')}${shownParameters} in ${shownChat}`
}

/** Names the user as a help desk does: by name, or by id. */
const describeChat = ({ id, name, user_id }: DriverChat) => `chat ${id} of user ${name === '' ? user_id : name}`

/** Asks on the terminal: writes the question to `output` and reads one line of `input`. */
export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  return (question, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const line = createInterface({ input, output })
      const stop = () => line.close()
      signal.addEventListener('abort', stop, { once: true })
      line.once('close', () => {
        signal.removeEventListener('abort', stop)
        reject(new Error('the terminal was closed'))
      })
      line.question(question, answer => {
        resolve(answer)
        line.close()
      })
    })
}

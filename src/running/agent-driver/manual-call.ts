/** Runs a verb by asking a person at the terminal. */
import { createInterface } from 'node:readline'
import { messageOf } from '../../base/text/error-text.ts'
import { type CallOutcome, failed } from './call-outcome.ts'
import type { DriverContext, Prompt } from './driver.ts'

const RUN_ENDED = failed({ code: 'run_ended' })

/** Asks a person to act, and whether it worked. */
export async function askPerson(
  prompt: Prompt,
  verb: string,
  context: DriverContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  if (signal.aborted) return RUN_ENDED
  try {
    const answer = await prompt(formatQuestion(verb, context), signal)
    return /^\s*s/i.test(answer) ? failed({ code: 'person_reported_failure' }) : { outcome: 'ok' }
  } catch (error) {
    return signal.aborted ? RUN_ENDED : failed({ code: 'prompt_failed', detail: messageOf(error) })
  }
}

export const formatQuestion = (verb: string, context: DriverContext): string =>
  `In the help desk: ${formatTask(verb, context)}, then press Enter; s to report a failure: `

function formatTask(verb: string, { chat, text = '', with: parameters = {} }: DriverContext): string {
  // Names the user as a help desk does: by name, or by id.
  const shown = chat === null ? '' : `chat ${chat.id} of user ${chat.name === '' ? chat.user_id : chat.name}`
  switch (verb) {
    case 'accept':
      return `accept ${shown}`
    case 'says':
      return `write ${JSON.stringify(text)} in ${shown}`
    case 'type':
      return `begin to type in ${shown}`
    case 'stop':
      return `stop typing in ${shown}`
    case 'leave':
      return `end ${shown}`
    case 'away':
      return 'set every agent away'
    case 'back':
      return 'set an agent available'
    default: {
      const shownParameters = Object.keys(parameters).length === 0 ? '' : ` ${JSON.stringify(parameters)}`
      return `do ${verb.replace(/^does\./, '')}${shownParameters} in ${shown}`
    }
  }
}

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

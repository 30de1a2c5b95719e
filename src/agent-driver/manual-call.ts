/** A verb as a request to whoever sits at the terminal, one at a time. */

import { createInterface } from 'node:readline'
import { type CallOutcome, failed, messageOf, STOPPED } from './call-outcome.ts'
import type { DriverChat, DriverContext, Prompt } from './driver.ts'

export interface Person {
  does(ask: Prompt, verb: string, context: DriverContext, signal: AbortSignal): Promise<CallOutcome>
}

/** Questions of scenarios that run beside each other wait for one another. */
export function createPerson(): Person {
  let before: Promise<unknown> = Promise.resolve()
  return {
    does(ask, verb, context, signal) {
      const done = before.then(() => (signal.aborted ? STOPPED : asked(ask, verb, context, signal)))
      before = done
      return done
    },
  }
}

async function asked(ask: Prompt, verb: string, context: DriverContext, signal: AbortSignal): Promise<CallOutcome> {
  try {
    const answer = await ask(questionOf(verb, context), signal)
    return /^\s*s/i.test(answer) ? failed('the person at the terminal said that it failed') : { outcome: 'ok' }
  } catch (error) {
    return signal.aborted ? STOPPED : failed(`the terminal could not be asked: ${messageOf(error)}`)
  }
}

export const questionOf = (verb: string, context: DriverContext): string =>
  `In the help desk: ${taskOf(verb, context)}, then press Enter; s to say it failed: `

function taskOf(verb: string, { chat, text, with: own }: DriverContext): string {
  const where = chat === null ? 'the chat' : named(chat)
  switch (verb) {
    case 'accept':
      return `accept ${where}`
    case 'says':
      return `write ${JSON.stringify(text)} in ${where}`
    case 'type':
      return `begin to type in ${where}`
    case 'stop':
      return `stop typing in ${where}`
    case 'leave':
      return `end ${where}`
    case 'away':
      return 'set every agent away'
    case 'back':
      return 'set an agent available'
    default:
      return `do ${verb.replace(/^does\./, '')}${parameters(own)} in ${where}`
  }
}

const parameters = (own: DriverContext['with']) =>
  own === undefined || Object.keys(own).length === 0 ? '' : ` ${JSON.stringify(own)}`

/** As a desk may show it: by name, or by id. */
const named = ({ id, name, user_id }: DriverChat) => `chat ${id} of user ${name === '' ? user_id : name}`

export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  return (question, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error('broken off'))
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

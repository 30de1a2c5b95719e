/** Asking a person at the terminal: what `manual` verbs need. */
import { createInterface } from 'node:readline'
import type { Ask } from './spec.ts'

export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Ask {
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

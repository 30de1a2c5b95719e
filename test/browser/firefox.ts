/** Drives Debian's Firefox by WebDriver BiDi, over the WebSocket that Firefox itself offers. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'

const PATHS = ['/usr/bin/firefox-esr', '/usr/bin/firefox']
export const firefox = PATHS.find(existsSync) ?? null

type Send = (method: string, params: object) => Promise<unknown>

export interface FirefoxPage {
  goto(url: string): Promise<void>
  /** The value of an expression in the page, as JSON has it. */
  evaluate(expression: string): Promise<unknown>
  /** Waits until the expression is true. */
  until(expression: string): Promise<void>
}

/** Opens a page in a new Firefox, which ends with the test. */
export async function openFirefox(path: string): Promise<FirefoxPage> {
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const program = spawn(path, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'])
  onTestFinished(async () => {
    const ended = new Promise(resolve => program.once('exit', resolve))
    program.kill()
    await ended
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  const send = await connect(await addressOf(program.stderr))
  await send('session.new', { capabilities: {} })
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: { context: string }[] }
  return pageOf(send, contexts[0]!.context)
}

const ADDRESS = /WebDriver BiDi listening on (ws:\S+)/

function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    stderr.on('data', chunk => {
      text += chunk
      const address = ADDRESS.exec(text)?.[1]
      if (address !== undefined) resolve(`${address}/session`)
    })
  })
}

async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const waiting = new Map<number, (answer: { result?: unknown; error?: string; message?: string }) => void>()
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(String(data))
    waiting.get(answer.id)?.(answer)
  }
  let count = 0
  return (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++count
      waiting.set(id, ({ result, error, message }) =>
        error ? reject(new Error(`${method}: ${message}`)) : resolve(result),
      )
      socket.send(JSON.stringify({ id, method, params }))
    })
}

function pageOf(send: Send, context: string): FirefoxPage {
  const evaluate = async (expression: string) => {
    const params = { expression: `JSON.stringify(${expression})`, target: { context }, awaitPromise: true }
    const answer = (await send('script.evaluate', params)) as { type: string; result?: { value?: string } }
    if (answer.type === 'exception') throw new Error(`Failed in the page: ${JSON.stringify(answer)}`)
    return JSON.parse(answer.result?.value ?? 'null')
  }
  return {
    goto: async url => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    evaluate,
    until: expression => expect.poll(() => evaluate(`Boolean(${expression})`)).toBe(true),
  }
}

/** The reference intermediary as a child process: the webhook target of `start --demo`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { wallTimer } from '../runtime/clock.ts'
import { EnvironmentProblem } from './errors.ts'

export interface DemoTarget {
  readonly url: string
  readonly webhookUrl: string
  stop(): Promise<void>
  kill(): void
}

export interface DemoPlatform {
  readonly url: string
  readonly apiKey: string
  readonly botId: number
}

const READY_WITHIN_MS = 15_000
const STOP_WITHIN_MS = 2_000
const TAIL_CHARS = 2_000

/** Sources, chunks and bundle lie at different depths of the package. */
function mainFile(): string {
  const candidates = ['../examples', '../../examples'].map(folder =>
    fileURLToPath(new URL(`${folder}/intermediary/main.js`, import.meta.url)),
  )
  const found = candidates.find(existsSync)
  if (found) return found
  throw new EnvironmentProblem('--demo: the reference intermediary is not part of this installation.')
}

/** `onLost` is told when it ends by itself. */
export async function startDemoTarget(
  platform: DemoPlatform,
  env: Readonly<Record<string, string | undefined>>,
  onLost: (why: string) => void,
): Promise<DemoTarget> {
  const child = spawn(process.execPath, [mainFile()], {
    env: childEnv(platform, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<string>(resolve => {
    child.on('error', error => resolve(error.message))
    child.on('exit', (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`))
  })
  const tail = lastWords(child)
  const url = await readyUrl(child, ended, tail)
  let stopping = false
  void ended.then(why => stopping || onLost(`The demo intermediary is gone: ${why}. ${tail()}`.trim()))
  const kill = () => {
    stopping = true
    child.kill('SIGKILL')
  }
  const stop = async () => {
    stopping = true
    child.kill('SIGTERM')
    const timer = wallTimer(STOP_WITHIN_MS, kill)
    await ended
    timer.cancel()
  }
  return { url, webhookUrl: `${url}/webhook`, stop, kill }
}

function childEnv({ url, apiKey, botId }: DemoPlatform, env: Readonly<Record<string, string | undefined>>) {
  const { STATE_FILE: _elsewhere, HOST: _host, ...inherited } = env
  return {
    ...inherited,
    PORT: '0',
    HANDOVER_SIM_URL: url,
    HANDOVER_SIM_API_KEY: apiKey,
    HANDOVER_SIM_WEBHOOK_SECRET: apiKey,
    HANDOVER_SIM_BOT_ID: String(botId),
  }
}

/** What it said last on stderr, for when it fails. */
function lastWords(child: ChildProcess): () => string {
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-TAIL_CHARS)
  })
  return () => said.trim()
}

async function readyUrl(child: ChildProcess, ended: Promise<string>, tail: () => string): Promise<string> {
  const outcome = await new Promise<{ url: string } | { why: string }>(resolve => {
    const timer = wallTimer(READY_WITHIN_MS, () => resolve({ why: `it was not ready within ${READY_WITHIN_MS} ms` }))
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      const url = /^Ready: (http\S+)$/m.exec(said)?.[1]
      if (url === undefined) return
      timer.cancel()
      resolve({ url })
    })
    void ended.then(why => {
      timer.cancel()
      resolve({ why })
    })
  })
  if ('url' in outcome) return outcome.url
  child.kill('SIGKILL')
  throw new EnvironmentProblem(`--demo: the demo intermediary did not start: ${outcome.why}. ${tail()}`.trim())
}

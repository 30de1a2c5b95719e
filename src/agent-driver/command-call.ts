/** A verb as a command: its fields as JSON on stdin, exit code 0 for success. No shell. */
import type { ChildProcess } from 'node:child_process'
import { wallDelay } from '../runtime/clock.ts'
import { interpolate, type Scope } from '../scenario/interpolation.ts'
import {
  type CallOutcome,
  complaintOf,
  failed,
  MOST_CHARS,
  messageOf,
  STOPPED,
  TOO_LONG,
  timedOut,
  unreachable,
  withTimeLimit,
} from './call-outcome.ts'
import type { Environment } from './call-scope.ts'
import type { DriverContext, ExecVerb } from './driver.ts'
import { kill, launch, type RunningProcess } from './process-group.ts'

export interface Place {
  readonly folder: string
  readonly env: Environment
}

function commandOf({ command }: ExecVerb, scope: Scope): string[] {
  return command.map(part => {
    const filled = interpolate(part, scope)
    return typeof filled === 'string' ? filled : JSON.stringify(filled)
  })
}

export const showExec = (verb: ExecVerb, scope: Scope): string =>
  commandOf(verb, scope)
    .map(part => (/^[\w./:@%+=,-]+$/.test(part) ? part : JSON.stringify(part)))
    .join(' ')

/** What a command is told on stdin. */
const inputOf = (verb: string, { chat, text, with: own, sim }: DriverContext) =>
  JSON.stringify({ verb, chat, text, with: own, sim })

export interface CommandTask {
  readonly verb: string
  readonly spec: ExecVerb
  readonly scope: Scope
  readonly context: DriverContext
  readonly place: Place
}

export async function callExec(
  { verb, spec, scope, context, place }: CommandTask,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { folder: cwd, env } = place
  let running: RunningProcess | null = null
  try {
    running = launch({ command: commandOf(spec, scope), cwd, env, stdin: true })
    const work = runToEnd(running, inputOf(verb, context))
    const done = await withTimeLimit(spec.timeoutMs, signal, () => work)
    if (done === 'timeout') return timedOut(spec.timeoutMs, 'the command was not finished')
    return done === 'stopped' ? STOPPED : done
  } catch (error) {
    return { ...unreachable(messageOf(error)), failure: { code: 'not_started' } }
  } finally {
    // Also what it left behind in the background.
    if (running !== null) await kill(running)
  }
}

async function runToEnd(running: RunningProcess, input: string): Promise<CallOutcome> {
  const { child, ended } = running
  child.stdin!.on('error', () => {}).end(input)
  const [out, err] = [collect(child.stdout!), collect(child.stderr!)]
  const tooLong = Promise.race([out.tooLong, err.tooLong])
  const end = await Promise.race([ended, tooLong])
  if (end === TOO_LONG) return failed(`printed ${TOO_LONG}`)
  if (!end.started) return { ...unreachable(end.why), failure: { code: 'not_started' } }
  await waitForOutput(child)
  const [text, complaint] = [out.text(), err.text()]
  if (end.code === 0) return { outcome: 'ok', text }
  const said = complaintOf(complaint.trim() === '' ? text : complaint)
  return { ...failed(said === '' ? end.why : `${end.why}: ${said}`), text }
}

const PIPES_MS = 500

/** What it started may hold its streams open for as long as it likes: they are read only a little longer. */
async function waitForOutput(child: ChildProcess): Promise<void> {
  const enough = new AbortController()
  await Promise.race([closed(child), wallDelay(PIPES_MS, enough.signal)])
  enough.abort()
}

const closed = (child: ChildProcess) =>
  Promise.all(
    [child.stdout!, child.stderr!].map(
      stream => stream.closed || new Promise<void>(resolve => void stream.once('close', resolve)),
    ),
  )

function collect(stream: NonNullable<ChildProcess['stdout']>) {
  let text = ''
  const tooLong = new Promise<typeof TOO_LONG>(resolve => {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length <= MOST_CHARS) text += chunk
      if (text.length > MOST_CHARS) resolve(TOO_LONG)
    })
  })
  return { text: () => text, tooLong }
}

/** Runs a verb as a command: its fields as JSON on stdin, exit code 0 for success, no shell. */
import type { ChildProcess } from 'node:child_process'
import { wallDelay } from '../../base/runtime/clock.ts'
import { asText, type InterpolationScope, interpolate } from '../../evaluation/scenario/interpolation.ts'
import { type CallOutcome, endOfOutput, failed, MAX_CHARS, unreachable, withTimeLimit } from './call-outcome.ts'
import type { DriverContext, Environment, ExecVerb } from './driver.ts'
import { isRunning, killProcess, launch, type RunningProcess } from './process-group.ts'

function commandOf({ command }: ExecVerb, scope: InterpolationScope): string[] {
  return command.map(part => asText(interpolate(part, scope)))
}

/** `./agent.sh accept c1` */
export function describeCommand(verb: ExecVerb, scope: InterpolationScope): string {
  const parts: string[] = []
  for (const part of commandOf(verb, scope)) parts.push(/^[\w./:@%+=,-]+$/.test(part) ? part : JSON.stringify(part))
  return parts.join(' ')
}

export interface CommandTask {
  readonly verb: string
  readonly spec: ExecVerb
  readonly scope: InterpolationScope
  readonly context: DriverContext
  readonly folder: string
  readonly env: Environment
}

/** After the end of a command: a process in the background may hold its streams open. */
const OUTPUT_MS = 500

/** Kills the command and everything it started before it resolves. */
export async function callCommand(task: CommandTask, signal: AbortSignal): Promise<CallOutcome> {
  const { verb, spec, scope, folder, env } = task
  const { chat, text, with: parameters, sim } = task.context
  const running = launch({ command: commandOf(spec, scope), cwd: folder, env, stdin: true })
  if (!isRunning(running)) return unreachable(running)
  const input = JSON.stringify({ verb, chat, text, with: parameters, sim })
  try {
    const work = runToEnd(running, input)
    return await withTimeLimit({ timeoutMs: spec.timeoutMs, call: 'command', signal }, () => work)
  } finally {
    await killProcess(running)
  }
}

async function runToEnd({ child, ended }: RunningProcess, input: string): Promise<CallOutcome> {
  child.stdin?.on('error', () => {}).end(input)
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  const end = await Promise.race([ended, stdout.tooLong, stderr.tooLong])
  if (end === 'too long') return failed({ code: 'too_long', status: null })
  if (end.code !== 'exited') return unreachable(end)
  const enough = new AbortController()
  await Promise.race([Promise.all([stdout.closed, stderr.closed]), wallDelay(OUTPUT_MS, enough.signal)])
  enough.abort()
  if (end.exit_code === 0) return { outcome: 'ok', text: stdout.text }
  const stream = stderr.text.trim() === '' ? 'stdout' : 'stderr'
  const output = endOfOutput(stream === 'stdout' ? stdout.text : stderr.text)
  return { ...failed({ ...end, code: 'command_failed', stream, output }), text: stdout.text }
}

function collect(stream: ChildProcess['stdout']) {
  const output = { text: '' }
  const tooLong = new Promise<'too long'>(resolve => {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.text.length <= MAX_CHARS) output.text += chunk
      if (output.text.length > MAX_CHARS) resolve('too long')
    })
  })
  const closed = new Promise<void>(resolve => {
    if (stream === null) resolve()
    else stream.once('close', resolve)
  })
  return Object.assign(output, { tooLong, closed })
}

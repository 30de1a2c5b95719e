/** Writes a scenario file from what a running simulator saw (`handover-sim record`). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import * as z from 'zod/mini'
import { messageOf } from '../base/text/error-text.ts'
import { counted } from '../base/text/quantities.ts'
import { defineCommand, type FlagsOf } from './command.ts'
import { type Context, EnvironmentError, UsageError } from './io.ts'
import { ADDRESS_FLAGS, noAnswer, postControl, refusalMessage, requireSimulator } from './running-simulator.ts'

const FLAGS = {
  '--chat-id <id>': {
    description: 'a chat to record; may be repeated (default: every chat in which something happened)',
    repeatable: true,
  },
  '--after <seq>': 'only entries of the journal after this one',
  '--before <seq>': 'only entries of the journal before this one',
  '--name <name>': 'name of the scenario (default: from the name of the file)',
  '--force': 'replace the file when it exists',
  ...ADDRESS_FLAGS,
  '--json': 'print the answer as JSON, with the file in it',
} as const

type RecordFlags = FlagsOf<typeof FLAGS>

export const recordCommand = defineCommand({
  arguments: { '<file>': 'the scenario file to write, such as scenarios/lost-parcel.yaml; - for stdout' },
  flags: FLAGS,
  async run(context, flags, [file = '']) {
    const body = { ...rangeFrom(flags), name: flags.name ?? nameFrom(file) }
    checkFile(file, flags, context)
    const answer = await ask(context, flags, body)
    if (typeof answer === 'string') {
      context.io.stderr.write(`${answer}\n`)
      return 1
    }
    write(file, answer.yaml, flags, context)
    print(file, answer, flags, context)
    const {
      tried: { outcome, left_out, noticed },
    } = answer
    return outcome === 'pass' && left_out === noticed ? 0 : 1
  },
})

function rangeFrom({ chatId, after, before }: RecordFlags) {
  return {
    ...(chatId === undefined ? {} : { chat_ids: chatId }),
    ...(after === undefined ? {} : { after: seqFrom('--after', after) }),
    ...(before === undefined ? {} : { before: seqFrom('--before', before) }),
  }
}

function seqFrom(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`${flag}: must be the number of a journal entry (its seq), got ${JSON.stringify(text)}.`)
}

const STDOUT = '-'

/** `lost-parcel.yaml` -> `Lost parcel` */
function nameFrom(file: string): string | undefined {
  const words = basename(file, extname(file))
    .replace(/[-_.\s]+/g, ' ')
    .trim()
  return file === STDOUT || words === '' ? undefined : words.charAt(0).toUpperCase() + words.slice(1)
}

function checkFile(file: string, { force }: RecordFlags, { io }: Context): void {
  if (file === STDOUT) return
  if (!/\.ya?ml$/i.test(file)) {
    throw new UsageError(`FILE: must end in .yaml or .yml, so that \`run\` can read it; got ${JSON.stringify(file)}.`)
  }
  if (!force && existsSync(resolve(io.cwd, file)))
    throw new UsageError(`FILE: ${JSON.stringify(file)} exists already: choose another name, or pass --force.`)
}

const Answer = z.looseObject({
  name: z.string(),
  yaml: z.string(),
  notes: z.array(z.looseObject({ message: z.string(), seq: z.nullable(z.number()) })),
  tried: z.looseObject({
    outcome: z.string(),
    calls: z.number(),
    left_out: z.number(),
    noticed: z.number(),
    failures: z.array(z.string()),
  }),
})
type Answer = z.infer<typeof Answer>

/** Returns the answer, or why there is nothing to record (409). */
async function ask(context: Context, flags: RecordFlags, body: object): Promise<Answer | string> {
  const simulator = await requireSimulator(context, flags)
  const answered = await postControl(simulator, '/record', body)
  if ('code' in answered) throw noAnswer(simulator.url, answered)
  const answer = Answer.safeParse(answered.body)
  if (answered.status === 200 && answer.success) return answer.data
  const message = refusalMessage(simulator, answered)
  if (answered.status === 409) return message
  throw answered.status >= 500 ? new EnvironmentError(message) : new UsageError(message)
}

function write(file: string, yaml: string, { force, json }: RecordFlags, { io }: Context): void {
  if (file === STDOUT) {
    if (!json) io.stdout.write(yaml)
    return
  }
  try {
    const path = resolve(io.cwd, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, yaml, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    throw new UsageError(`FILE: ${JSON.stringify(file)} cannot be written: ${messageOf(error)}.`)
  }
}

/** Notes go to stderr; the last line says what the trial showed. */
function print(file: string, answer: Answer, { json }: RecordFlags, { io }: Context): void {
  if (json) return io.stdout.write(`${JSON.stringify(answer)}\n`)
  for (const { message, seq } of answer.notes) io.stderr.write(`${seq === null ? '' : `#${seq}: `}${message}\n`)
  const line = `${file === STDOUT ? answer.name : file}: ${trialText(answer)}\n`
  if (file === STDOUT) io.stderr.write(line)
  else io.stdout.write(line)
}

function trialText({ tried: { outcome, calls, left_out: leftOut, noticed, failures } }: Answer): string {
  const reasons = failures.map(failure => `\n  ${failure}`).join('')
  if (outcome !== 'pass') return `tried once, and it did not pass (${outcome}):${reasons}`
  const expected = counted(calls, 'call')
  if (calls === 0) return 'tried once: it passes when no call comes'
  const which = leftOut === calls ? 'any one of them' : `each of the first ${leftOut}`
  if (leftOut === noticed) return `tried once: it passes with the ${expected} recorded, and fails without ${which}`
  return `tried once: it passes with the ${expected} recorded, but does not notice when one of these is missing:${reasons}`
}

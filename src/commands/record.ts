/** Writes a scenario file from what a running simulator saw (`handover-sim record`). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import * as z from 'zod/mini'
import { messageOf } from '../base/text/error-text.ts'
import { counted } from '../base/text/quantities.ts'
import { visible } from '../base/text/terminal-text.ts'
import { defineCommand } from './command.ts'
import { UsageError } from './io.ts'
import { ADDRESS_FLAGS, askSimulator } from './running-simulator.ts'
import { withSchemaPath } from './scenario-folder.ts'

const FLAGS = {
  '--chat-id <id>': {
    description: 'a chat to record; may be repeated (default: every chat in which something happened)',
    repeatable: true,
  },
  '--after <seq>': 'only entries of the journal after this one',
  '--before <seq>': 'only entries of the journal before this one',
  '--reads': 'also expect the calls that only read: transcript, summarize and chat',
  '--name <name>': 'name of the scenario (default: from the name of the file)',
  '--force': 'replace the file when it exists',
  ...ADDRESS_FLAGS,
  '--json': 'print the answer as JSON, with the file in it',
} as const

const STDOUT = '-'

const RecordResponse = z.looseObject({
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
type RecordResponse = z.infer<typeof RecordResponse>

export const recordCommand = defineCommand({
  arguments: { '<file>': 'the scenario file to write, such as scenarios/lost-parcel.yaml; - for stdout' },
  flags: FLAGS,
  examples: {
    'record scenarios/lost-parcel.yaml': 'what happened, as a scenario',
  },
  async run(context, flags, [file = '']) {
    const { io } = context
    const path = resolve(io.cwd, file)
    // What the recording contains. Without a name, `lost-parcel.yaml` becomes `Lost parcel`.
    const words =
      file === STDOUT
        ? ''
        : basename(file, extname(file))
            .replace(/[-_.\s]+/g, ' ')
            .trim()
    const name = words === '' ? undefined : words.charAt(0).toUpperCase() + words.slice(1)
    const body = {
      ...(flags.chatId === undefined ? {} : { chat_ids: flags.chatId }),
      ...(flags.after === undefined ? {} : { after: seqFrom('--after', flags.after) }),
      ...(flags.before === undefined ? {} : { before: seqFrom('--before', flags.before) }),
      name: flags.name ?? name,
      ...(flags.reads && { reads: true }),
    }
    if (file !== STDOUT && !/\.ya?ml$/i.test(file))
      throw new UsageError(`FILE: must end in .yaml or .yml, so that \`run\` can read it; got ${JSON.stringify(file)}.`)
    if (file !== STDOUT && !flags.force && existsSync(path))
      throw new UsageError(`FILE: ${JSON.stringify(file)} exists already: choose another name, or pass --force.`)

    const asked = await askSimulator(context, flags, '/record', body, RecordResponse)
    if ('refusal' in asked) {
      io.stderr.write(`${asked.refusal}\n`)
      return 1
    }
    const { data: recorded } = asked
    if (file !== STDOUT) write(file, path, withSchemaPath(recorded.yaml, path, io.cwd), flags.force ?? false)
    else if (!flags.json) io.stdout.write(recorded.yaml)

    // Notes go to stderr; the last line says what the trial showed.
    if (flags.json) io.stdout.write(`${JSON.stringify(recorded)}\n`)
    else {
      for (const { message, seq } of recorded.notes)
        io.stderr.write(`${seq === null ? 'note: ' : `#${seq}: `}${visible(message)}\n`)
      if (file === STDOUT) io.stderr.write(`${visible(recorded.name)}: ${trialText(recorded)}\n`)
      else io.stdout.write(`${file}: ${trialText(recorded)}\n`)
    }
    const { outcome, left_out: leftOut, noticed } = recorded.tried
    return outcome === 'pass' && leftOut === noticed ? 0 : 1
  },
})

function seqFrom(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`${flag}: must be the number of a journal entry (its seq), got ${JSON.stringify(text)}.`)
}

function write(file: string, path: string, yaml: string, force: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, yaml, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    throw new UsageError(`FILE: ${JSON.stringify(file)} cannot be written: ${messageOf(error)}.`)
  }
}

function trialText({ tried: { outcome, calls, left_out: leftOut, noticed, failures } }: RecordResponse): string {
  const reasons = failures.map(failure => `\n  ${visible(failure)}`).join('')
  if (outcome !== 'pass') return `tried once, and it did not pass (${visible(outcome)}):${reasons}`
  const expected = counted(calls, 'call')
  if (calls === 0) return 'tried once: it passes when no call comes'
  const which = leftOut === calls ? 'any one of them' : `each of the first ${leftOut}`
  if (leftOut === noticed) return `tried once: it passes with the ${expected} recorded, and fails without ${which}`
  return `tried once: it passes with the ${expected} recorded, but does not notice when one of these is missing:${reasons}`
}

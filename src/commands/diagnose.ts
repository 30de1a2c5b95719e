/** Finds out why the webhook refused a delivery of a running simulator (`handover-sim diagnose`). */
import * as z from 'zod/mini'
import { counted } from '../base/text/quantities.ts'
import { quote } from '../base/text/terminal-text.ts'
import { defineCommand } from './command.ts'
import { ADDRESS_FLAGS, askSimulator } from './running-simulator.ts'

const Diagnosis = z.looseObject({
  delivery_id: z.string(),
  event: z.string(),
  code: z.string(),
  text: z.string(),
  fix: z.nullable(z.string()),
  facts: z.array(z.string()),
  answer: z.nullable(z.object({ status: z.number(), body: z.string() })),
  probes: z.array(z.looseObject({ seq: z.number() })),
})

/** Codes of a diagnosis that names no cause. */
const NO_CAUSE: readonly string[] = ['unknown', 'key_or_code_changed', 'service_failed', 'unsigned_accepted']

export const diagnoseCommand = defineCommand({
  arguments: { '[id]': 'its delivery_id (default: the latest refused delivery)' },
  flags: {
    '--signature <text>': 'what your code computed for this delivery: names the difference, and sends nothing',
    ...ADDRESS_FLAGS,
    '--json': 'print the answer as JSON',
  },
  examples: {
    diagnose: 'why was the latest refused delivery refused?',
  },
  async run(context, flags, [id = 'latest']) {
    const { io } = context
    const path = `/deliveries/${encodeURIComponent(id)}/diagnose`
    const { signature } = flags
    const asked = await askSimulator(context, flags, path, signature === undefined ? {} : { signature }, Diagnosis)
    if ('refusal' in asked) {
      io.stderr.write(`${asked.refusal}\n`)
      return 1
    }
    const { data: diagnosis } = asked
    const lines = [diagnosis.text]
    if (diagnosis.answer !== null && diagnosis.code !== 'accepted')
      lines.push(`Its answer to ${diagnosis.event}: ${diagnosis.answer.status} ${quote(diagnosis.answer.body, 200)}`)
    lines.push(...diagnosis.facts)
    if (diagnosis.fix) lines.push(`Fix: ${diagnosis.fix}`)
    const seqs = diagnosis.probes.map(({ seq }) => seq)
    if (seqs.length > 0)
      lines.push(
        `${counted(seqs.length, 'event')} without effect on a help desk ${seqs.length === 1 ? 'was' : 'were'} sent to find out: #${Math.min(...seqs)} to #${Math.max(...seqs)}.`,
      )
    io.stdout.write(flags.json ? `${JSON.stringify(diagnosis)}\n` : `${lines.join('\n')}\n`)
    return NO_CAUSE.includes(diagnosis.code) ? 1 : 0
  },
})

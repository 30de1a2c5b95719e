/** The command that plays one scenario again, to be pasted into a shell. */
import type { Plan } from '../../scenario/plan.ts'
import type { RunFlags } from './flags.ts'

export const againWith =
  (flags: RunFlags) =>
  (plan: Plan, seed: number): string => {
    const words = [
      'npx handover-sim run',
      quoted(plan.file),
      `--only ${quoted(plan.name)}`,
      `--seed ${seed}`,
      ...(flags.selfTest ? ['--self-test'] : []),
      ...(flags.target === undefined ? [] : [`--target ${quoted(flags.target)}`]),
      ...(flags.agentDriver === undefined ? [] : [`--agent-driver ${quoted(flags.agentDriver)}`]),
      ...(flags.port === undefined ? [] : [`--port ${quoted(flags.port)}`]),
      ...(flags.config === undefined ? [] : [`--config ${quoted(flags.config)}`]),
      ...(flags.set ?? []).map(assignment => `--set ${quoted(assignment)}`),
    ]
    return words.join(' ')
  }

/** Plain words stay as they are; everything else is safe in a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

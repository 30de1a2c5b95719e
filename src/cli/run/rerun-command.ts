/** The command that plays one scenario again, to be pasted into a shell. */
import type { Plan } from '../../scenario/plan.ts'
import type { RunFlags } from './flags.ts'

export const rerunCommand =
  (flags: RunFlags) =>
  (plan: Plan, seed: number, instance = 1): string => {
    const words = [
      'npx handover-sim run',
      quoted(plan.file),
      `--only ${quoted(plan.name)}`,
      `--seed ${seed}`,
      // The ids of a repetition are its own: it comes with those before it.
      ...(instance === 1 ? [] : [`--repeat ${instance}`]),
      ...(flags.selfTest ? ['--self-test'] : []),
      ...(flags.target === undefined ? [] : [`--target ${quoted(flags.target)}`]),
      ...(flags.agentDriver === undefined ? [] : [`--agent-driver ${quoted(flags.agentDriver)}`]),
      ...(flags.port === undefined ? [] : [`--port ${quoted(flags.port)}`]),
      ...(flags.host === undefined ? [] : [`--host ${quoted(flags.host)}`]),
      ...(flags.baseUrl === undefined ? [] : [`--base-url ${quoted(flags.baseUrl)}`]),
      ...(flags.clock === undefined ? [] : [`--clock ${quoted(flags.clock)}`]),
      // Reports show no keys: who pastes the command puts his own in.
      ...(flags.apiKey === undefined ? [] : ['--api-key KEY']),
      ...(flags.botApiKey === undefined ? [] : ['--bot-api-key KEY']),
      ...(flags.allowRemote ? ['--allow-remote'] : []),
      ...(flags.strict ? ['--strict'] : []),
      ...(flags.config === undefined ? [] : [`--config ${quoted(flags.config)}`]),
      ...(flags.set ?? []).map(assignment => `--set ${quoted(assignment)}`),
    ]
    return words.join(' ')
  }

/** Plain words stay as they are; everything else is safe in a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

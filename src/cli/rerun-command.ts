/** Writes the command that plays one scenario again, for pasting into a shell. */
import { keysOf } from '../contract/objects.ts'
import { type Shell, shellWord } from '../runtime/shell.ts'
import type { Plan } from '../scenario/plan.ts'
import type { RunFlags } from './run-flags.ts'

/** Flags with a value that the command repeats. `--webhook-url` is an alias of `--target`. */
const REPEATED_FLAGS = {
  target: '--target',
  webhookUrl: '--target',
  agentDriver: '--agent-driver',
  port: '--port',
  host: '--host',
  baseUrl: '--base-url',
  clock: '--clock',
  memoryLimit: '--memory-limit',
  config: '--config',
} as const satisfies Partial<Record<keyof RunFlags, string>>

/** Texts of reports show no keys, so the command has placeholders. `plans`: every scenario of the files. */
export function createRerunCommand(flags: RunFlags, plans: readonly Plan[], shell?: Shell) {
  const word = (text: string) => shellWord(text, shell)
  const repeated = [
    ...(flags.selfTest ? ['--self-test'] : []),
    ...keysOf(REPEATED_FLAGS).flatMap(name => {
      const value = flags[name]
      return value === undefined || (name === 'webhookUrl' && flags.target !== undefined)
        ? []
        : [`${REPEATED_FLAGS[name]} ${word(value)}`]
    }),
    ...(flags.apiKey === undefined ? [] : ['--api-key KEY']),
    ...(flags.botApiKey === undefined ? [] : ['--bot-api-key KEY']),
    ...(flags.allowRemote ? ['--allow-remote'] : []),
    ...(flags.strict ? ['--strict'] : []),
    ...(flags.set ?? []).map(assignment => `--set ${word(assignment.replace(KEY_VALUE, '$1KEY'))}`),
  ]
  const perFile = new Map<string, number>()
  for (const { file } of plans) perFile.set(file, (perFile.get(file) ?? 0) + 1)
  return ({ file, name }: Plan, seed: number, instance: number): string =>
    [
      'npx handover-sim run',
      word(file),
      ...(perFile.get(file) === 1 ? [] : [`--only ${word(passablePart(name))}`]),
      `--seed ${seed}`,
      // The ids of a repetition follow from those before it.
      ...(instance === 1 ? [] : [`--repeat ${instance}`]),
      ...repeated,
    ].join(' ')
}

const KEY_VALUE = /^(keys\.(?:handover|bot|more)=).*$/s

/** The longest part of a name without what no argument of a program can have. */
const passablePart = (name: string): string =>
  name.split(/[\0\p{Cs}]/u).reduce((longest, part) => (part.length > longest.length ? part : longest))

/** Writes the command that plays one scenario, or runs one check, again: for pasting into a shell. */
import { keysOf } from '../base/objects.ts'
import { visible } from '../base/text/terminal-text.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import type { CertifyFlags } from './certify-flags.ts'
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

type RepeatedFlags = Pick<
  RunFlags,
  keyof typeof REPEATED_FLAGS | 'selfTest' | 'apiKey' | 'botApiKey' | 'allowRemote' | 'strict' | 'set'
>

/** Texts of reports show no keys, so the command has placeholders. */
function repeatedWords(flags: RepeatedFlags, word: (text: string) => string): string[] {
  return [
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
}

/** `plans`: every scenario of the files. */
export function createRerunCommand(flags: RunFlags, plans: readonly Plan[], shell?: Shell) {
  const word = (text: string) => shellWord(text, shell)
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
      ...repeatedWords(flags, word),
    ].join(' ')
}

/** The command that runs one check again, with the same variations. */
export function createCheckRerun(flags: CertifyFlags, seed: number, shell?: Shell) {
  const word = (text: string) => shellWord(text, shell)
  const { ackLimit, observe, within, capabilities, rotateUnspecified } = flags
  const own = { '--ack-limit': ackLimit, '--observe': observe, '--within': within, '--capabilities': capabilities }
  const words = [
    ...repeatedWords(flags, word),
    ...Object.entries(own).flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${word(value)}`])),
    ...(rotateUnspecified === false ? ['--no-rotate-unspecified'] : []),
  ]
  return (id: string): string => ['npx handover-sim certify', `--only ${id}`, `--seed ${seed}`, ...words].join(' ')
}

const KEY_VALUE = /^(keys\.(?:handover|bot|more)=).*$/s

/** The longest part of a name without what no argument of a program can have. */
const passablePart = (name: string): string =>
  name.split(/[\0\p{Cs}]/u).reduce((longest, part) => (part.length > longest.length ? part : longest))

export type Shell = 'posix' | 'powershell'

const SHELL: Shell = process.platform === 'win32' ? 'powershell' : 'posix'

/** Bare where it can be, in double quotes where these mean the same in every shell, else in the quotes of one shell. */
export function shellWord(text: string, shell: Shell = SHELL): string {
  if (/^[\w./:][\w./:=@+-]*$/.test(text)) return text
  const isShown = visible(text) === text
  if (isShown && /^[^"$`\\!%]+$/.test(text)) return `"${text}"`
  if (shell === 'powershell')
    return isShown
      ? `'${text.replaceAll("'", "''")}'`
      : `"${[...text].map(one => (isPlain(one) ? one : `\`u{${(one.codePointAt(0) ?? 0).toString(16)}}`)).join('')}"`
  return isShown ? `'${text.replaceAll("'", `'\\''`)}'` : `$'${escapedBytes(text)}'`
}

/** Characters that mean themselves in every kind of quotes. */
const isPlain = (character: string): boolean => /^[\w ./:=@,+-]$/.test(character)

/** As bytes in octal, whatever the locale of the shell is. */
function escapedBytes(text: string): string {
  const characters = [...new TextEncoder().encode(text)].map(byte => String.fromCharCode(byte))
  return characters.map(one => (isPlain(one) ? one : `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)).join('')
}

/** Completes commands, flags and values in a shell (`handover-sim complete`). */
import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { script } from '@bomb.sh/tab'
import { keysOf } from '../base/objects.ts'
import { packagePath } from '../base/runtime/node.ts'
import { visible } from '../base/text/terminal-text.ts'
import {
  CALIBRATION_REPORTS,
  CERTIFICATE_REPORTS,
  LOAD_REPORTS,
  RUN_REPORTS,
} from '../pages/reporters/report-option.ts'
import { WEBHOOK_EVENTS } from '../platform/contract/events.ts'
import { KNOBS } from '../platform/contract/knobs.ts'
import { sendingShape } from '../platform/faults/schema.ts'
import { PROFILES } from '../running/certifier/check.ts'
import { CHECKS } from '../running/certifier/checks/index.ts'
import { SCENARIO_GROUPS } from '../running/runner/schedule.ts'
import { type CliCommand, defineCommand, type FlagDefinition } from './command.ts'
import { type Context, UsageError } from './io.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']

export const completeCommand = defineCommand({
  arguments: { '<shell>': SHELLS.join(', ') },
  flags: {},
  examples: {
    'complete bash >> ~/.bashrc': 'for each new bash',
    'complete zsh > _handover-sim': 'for zsh: move the file to a folder of its fpath',
  },
  async run({ io }, _, [shell = '']) {
    if (!SHELLS.includes(shell))
      throw new UsageError(`SHELL must be one of ${SHELLS.join(', ')}, got ${JSON.stringify(shell)}.`)
    if (shell === 'bash' || shell === 'zsh') io.stdout.write(shell === 'bash' ? BASH : ZSH)
    else script(shell, 'handover-sim', 'handover-sim')
    return 0
  },
})

/**
 * Without eval, and for values with `=`, `:` and spaces, which the scripts of the library for bash and zsh do not take.
 * bash divides words at `=` and `:`. Also for bash 3.2.
 */
const BASH = `_handover_sim() {
  local part word current divided count=0
  local -a words
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $count -gt 0 && ( $divided || $part == [=:]* ) ]]; then
      words[count-1]+=$part
    else
      words[count++]=$part
    fi
    divided=; [[ $part == [=:]* ]] && divided=1
  done
  current=\${words[count-1]}
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ $word == :[0-9] ]]; then
      [[ $((\${word#:} & 2)) -ne 0 ]] && compopt -o nospace 2>/dev/null
    else
      COMPREPLY+=("$(printf %q "\${word#"\${current%"\${current##*[=:]}"}"}")")
    fi
  done < <(handover-sim complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _handover_sim handover-sim
`
const ZSH = `#compdef handover-sim
_handover_sim() {
  local value about
  local -a values shown space
  while IFS=$'\\t' read -r value about; do
    if [[ $value == :[0-9] ]]; then
      (( \${value#:} & 2 )) && space=(-S '')
    else
      values+=("$value") shown+=("$value\${about:+  -- $about}")
    fi
  done < <(handover-sim complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  compadd -l -d shown $space -a values
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _handover_sim "$@"; else compdef _handover_sim handover-sim; fi
`

/** What a word may be, each with what it means. */
type Candidates = readonly (readonly [value: string, about: string])[]

/** How a shell treats the answer, as bits: no space after the word; no files of its own. */
const NO_SPACE = 2
const NO_FILES = 4

/**
 * Answers the script of a shell: the candidates for the last of these words, one in a line, then how the shell treats them.
 * `load` resolves with null for a name that no command has.
 */
export async function completeShell(
  words: readonly string[],
  commands: Readonly<Record<string, string>>,
  load: (name: string) => Promise<CliCommand | null>,
  { io }: Context,
): Promise<number> {
  const word = words.at(-1) ?? ''
  const completions = (await candidates()).filter(([value]) => value.startsWith(word))
  const isOpen = completions.length > 0 && completions.every(([value]) => /[=/]$/.test(value))
  for (const [value, about] of completions) io.stdout.write(`${value}\t${about.replace(/\s+/g, ' ')}\n`)
  io.stdout.write(`:${NO_FILES + (isOpen ? NO_SPACE : 0)}\n`)
  return 0

  async function candidates(): Promise<Candidates> {
    const [name = ''] = words
    if (words.length <= 1) return [...Object.entries(commands), ['--help', 'list the commands'], ['--version', '']]
    const command = await load(name)
    if (command === null || words.slice(1, -1).includes('--')) return []
    const flags = new Map<string, { readonly flag: FlagDefinition; readonly takes: string | undefined }>()
    for (const [key, flag] of Object.entries(command.flags)) {
      const [flagName = '', takes] = key.split(' ')
      flags.set(flagName, { flag: typeof flag === 'string' ? { description: flag } : flag, takes })
    }
    const candidatesFor = (flagName: string | undefined, typed: string): Candidates | null => {
      const { takes, flag } = flags.get(flagName ?? '') ?? {}
      if (takes === undefined) return null
      return flag?.choices?.map(choice => [choice, ''] as const) ?? valuesFor(name, takes, typed, io.cwd)
    }
    const [, assigned, typed = ''] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
    if (assigned !== undefined)
      return (candidatesFor(assigned, typed) ?? []).map(([value, about]) => [`${assigned}=${value}`, about])
    const values = candidatesFor(words.at(-2), word)
    if (values !== null) return values
    if (word.startsWith('-')) {
      const isFree = (flagName: string) => !words.includes(flagName) || flags.get(flagName)?.flag.repeatable
      const shown = [...flags].filter(([flagName, { flag }]) => !flag.hidden && isFree(flagName))
      return [...shown.map(([flagName, { flag }]) => [flagName, flag.description] as const), ['--help', '']]
    }
    const [takes] = Object.keys(command.arguments ?? {})
    return takes === undefined ? [] : valuesFor(name, takes, word, io.cwd)
  }
}

/** The values of a flag or an argument of a command, by its placeholder such as `<file>`. */
function valuesFor(command: string, placeholder: string, typed: string, cwd: string): Candidates {
  const named = (names: readonly string[], end = ''): Candidates => names.map(name => [`${name}${end}`, ''])
  switch (placeholder.replace(/[^a-z=]/g, '')) {
    case 'id':
      return command === 'certify' ? CHECKS.map(({ id, title }) => [id, title]) : []
    case 'profiles':
      return named(PROFILES)
    case 'knob=value':
      return Object.entries(KNOBS).flatMap(([knob, { allowed }]) => {
        const words = allowed.split(' | ')
        if (words.length > 1 && words.every(word => /^[\w-]+$/.test(word)))
          return named(words.map(word => `${knob}=${word}`))
        return [[`${knob}=`, allowed] as const]
      })
    case 'name=value':
      return named(Object.keys(sendingShape), '=')
    case 'event':
      return named(keysOf(WEBHOOK_EVENTS))
    case 'reports': {
      const own = new Map<string, readonly string[]>([
        ['certify', CERTIFICATE_REPORTS],
        ['load', LOAD_REPORTS],
        ['calibrate', CALIBRATION_REPORTS],
      ])
      const reports = own.get(command) ?? RUN_REPORTS
      const before = typed.slice(0, typed.lastIndexOf(',') + 1)
      return reports.map(report => [before + (/pretty|tap|github/.test(report) ? report : `${report}=`), ''])
    }
    case 'tag':
      return Object.entries(SCENARIO_GROUPS)
    case 'name':
      return command === 'run'
        ? shippedScenarios().map(([, name]) => [name.toLowerCase().replaceAll(' ', '-'), name])
        : []
    case 'shell':
      return named(SHELLS)
    case 'files': {
      const takesShipped = command === 'run' || command === 'load'
      const shipped = takesShipped ? shippedScenarios() : []
      return [...shipped.map(([file, name]) => [`builtin:${file}`, name] as const), ...pathsFor(typed, cwd)]
    }
    case 'file':
    case 'seedorfile':
    case 'journals':
      return pathsFor(typed, cwd)
    case 'folder':
      return pathsFor(typed, cwd).filter(([path]) => path.endsWith('/'))
    default:
      return []
  }
}

/** Their files, each with the name of its scenario. */
function shippedScenarios(): [file: string, name: string][] {
  const folder = packagePath('scenarios')
  if (folder === null) return []
  return readdirSync(folder)
    .filter(file => file.endsWith('.yaml'))
    .map(file => [file, /^name: (.+)$/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? ''])
}

/** What is in the folder that a path begins with; folders end with a slash. */
function pathsFor(typed: string, cwd: string): Candidates {
  const before = typed.slice(0, typed.lastIndexOf('/') + 1)
  let entries: Dirent[] = []
  try {
    entries = readdirSync(resolve(cwd, before), { withFileTypes: true })
  } catch {
    // A folder that is not there has no files to offer.
  }
  // A name with a line break or another control character would be another answer to the shell, or to the terminal.
  const isShown = ({ name }: Dirent) =>
    name.startsWith('.') === typed.slice(before.length).startsWith('.') && name === visible(name)
  return entries.filter(isShown).map(entry => [`${before}${entry.name}${entry.isDirectory() ? '/' : ''}`, ''])
}

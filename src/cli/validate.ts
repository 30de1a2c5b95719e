/** Checks scenario, driver and config files (`handover-sim validate`). */
import type { Command } from 'commander'
import { formatProblem } from '../files/errors.ts'
import type { Hint } from '../scenario/format/scenario.ts'
import { findFiles } from '../scenario/load/find.ts'
import { placeText } from '../scenario/plan.ts'
import { type InspectedFile, inspect } from './inspect-files.ts'
import type { Context } from './io.ts'

export function define(command: Command): void {
  command
    .argument('[files...]', 'files, folders or patterns of scenario, driver and config files (default: scenarios)')
    .option('--json', 'one line of JSON per file: { v, type, file, kind, ok, problems, warnings, ... }')
}

export async function run(
  context: Context,
  options: Record<string, unknown>,
  args: readonly string[],
): Promise<number> {
  const files = findFiles(args.length === 0 ? ['scenarios'] : args, context.io.cwd)
  const inspectedFiles = await inspect(files, context)
  const printed = new Set<string>()
  for (const one of inspectedFiles) options.json ? sayJson(one, context) : say(one, context, printed)
  return inspectedFiles.some(({ problems }) => problems.length > 0) ? 2 : 0
}

/** Prints a problem once, also when several scenarios include the part that has it. */
function say(inspectedFiles: InspectedFile, { io }: Context, printed: Set<string>): void {
  const { file, kind, counts, problems, warnings } = inspectedFiles
  const lines = [...problems.map(formatProblem), ...warnings.map(warning => warningLine(file, warning))]
  for (const line of lines.filter(one => !printed.has(one))) {
    printed.add(line)
    io.stderr.write(`${line}\n`)
  }
  if (problems.length === 0) io.stdout.write(`ok  ${file}: ${contents(kind, counts)}\n`)
}

function warningLine(file: string, { place, rule, message }: Hint): string {
  const at = place === null ? file : placeText(place)
  return `${at}: warning: ${message} (${rule})`
}

/** `3 scenarios, 41 steps`; of others `driver, 9 verbs`. */
function contents(kind: InspectedFile['kind'], counts: InspectedFile['counts']): string {
  const parts = Object.entries(counts).map(([what, count]) => `${count} ${count === 1 ? what.replace(/s$/, '') : what}`)
  return [...(kind === 'scenario' ? [] : [kind]), ...parts].join(', ')
}

function sayJson({ file, kind, counts, problems, warnings }: InspectedFile, { io }: Context): void {
  const line = { v: 1, type: 'file', file, kind, ok: problems.length === 0, ...counts, problems, warnings }
  io.stdout.write(`${JSON.stringify(line)}\n`)
}

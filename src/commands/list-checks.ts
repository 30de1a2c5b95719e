/** Plans the checks of a run, and prints checks without running any: their definitions, the plan of a run, a help page. */
import { nearest } from '../base/text/error-text.ts'
import { pad, widthOf, wrap } from '../base/text/terminal-text.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import { type CheckDefinition, PROFILES, type Profile } from '../running/certifier/check.ts'
import { helpPageOf } from '../running/certifier/check-help.ts'
import { CHECKS } from '../running/certifier/checks/index.ts'
import { selectChecks, UnknownCheckError } from '../running/certifier/select.ts'
import { type Context, colorLevel, columnsOf, UsageError } from './io.ts'

/** The checks of a run. */
interface CheckPlan {
  readonly checks: readonly CheckDefinition[]
  readonly profiles: readonly Profile[]
}

interface CheckFilters {
  /** Null: all that the driver allows. */
  readonly profiles: readonly Profile[] | null
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** Without `--profile`, the profiles are all that can run. Throws `UsageError`. */
export function planChecks(filters: CheckFilters, hasDriver: boolean): CheckPlan {
  const profiles = filters.profiles ?? (hasDriver ? PROFILES : ['webhook'])
  try {
    const checks = selectChecks(filters, profiles)
    if (checks.length > 0 || filters.profiles !== null) return { checks, profiles }
    const otherChecks = selectChecks(filters, PROFILES)
    if (otherChecks[0] === undefined) return { checks, profiles }
    const ids = otherChecks.map(({ id }) => id).join(', ')
    throw new UsageError(
      `${ids}: of the profile ${otherChecks[0].profile}, which needs an agent driver: pass --agent-driver FILE.`,
    )
  } catch (error) {
    throw error instanceof UnknownCheckError ? new UsageError(error.message) : error
  }
}

/** `certify --list`. */
export function listChecks(checks: readonly CheckDefinition[], json: boolean, context: Context): string {
  const blocks: string[] = []
  for (const check of checks) {
    if (!json) {
      blocks.push(definitionText(check, context))
      continue
    }
    const { id, title, level, profile, rules, sends, observes, passes, needs = [], restarts = false } = check
    const definition = {
      v: 1,
      type: 'check',
      id,
      title,
      level,
      profile,
      rules,
      sends,
      observes,
      passes,
      needs,
      restarts,
    }
    const { capability = null, exclusive: alone = false } = check
    blocks.push(`${JSON.stringify({ ...definition, capability, alone })}\n`)
  }
  if (json) return blocks.join('')
  return `${blocks.join('\n')}\n${checks.length} check${checks.length === 1 ? '' : 's'}\n`
}

const INDENT = '  '
const LABEL_COLUMNS = 10

function definitionText(check: CheckDefinition, { io, env }: Context): string {
  const { id, level, profile, rules, title, sends, observes, passes, needs = [], restarts = false } = check
  const theme = createTheme(colorLevel(env, io.stdout.isTTY))
  const columns = columnsOf(env, io.stdout) - INDENT.length - LABEL_COLUMNS
  const rows = [
    ['sends', sends],
    ['observes', observes],
    ['passes', passes],
  ] as const
  const needed = []
  if (needs.length > 0) needed.push(['needs', `an agent driver with ${needs.join(', ')}`] as const)
  if (restarts) needed.push(['needs', 'an agent driver that can start the intermediary'] as const)
  const facts = `${level}, ${profile}, ${rules.join(' ')}`
  let definition = `${theme.strong(`${id}  ${title}`)}  ${theme.faint(facts)}\n`
  for (const [label, text] of [...rows, ...needed])
    for (const [at, line] of wrap(text, columns).entries())
      definition += `${INDENT}${theme.faint(pad(at === 0 ? label : '', LABEL_COLUMNS))}${line}\n`
  return definition
}

/** `certify --dry-run`: one line for each check. */
export function checksDryRun({ checks }: CheckPlan): string {
  const columns = Math.max(0, ...checks.map(({ id }) => widthOf(id)))
  let text = ''
  for (const { id, level, profile, title } of checks) text += `${pad(id, columns)}  ${title}  (${level}, ${profile})\n`
  return `${text}${checks.length} check${checks.length === 1 ? '' : 's'} would run\n`
}

/** `certify --explain ID`: what the check does, and its help page. */
export function explainCheck(id: string, context: Context): string {
  const check = CHECKS.find(candidate => candidate.id === id.toUpperCase())
  if (check === undefined) {
    const ids = CHECKS.map(check => check.id)
    const instead = nearest(id.toUpperCase(), ids) || '; `npx handover-sim certify --list` prints all.'
    throw new UsageError(`There is no check ${JSON.stringify(id)}${instead}`)
  }
  const help = helpPageOf(check)
  if (help === null) throw new UsageError(`There is no help page for ${check.id}.`)
  const theme = createTheme(colorLevel(context.env, context.io.stdout.isTTY))
  // Without the title of the page, which the definition has.
  const [, ...lines] = help.split('\n')
  const page = lines.map(line => (line.startsWith('#') ? theme.strong(line) : line)).join('\n')
  return `${definitionText(check, context)}${page.trimEnd()}\n`
}

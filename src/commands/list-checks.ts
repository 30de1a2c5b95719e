/** Plans the checks of a run, and prints checks without running any: their definitions, the plan of a run, a help page. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../base/runtime/package-files.ts'
import { nearest } from '../base/text/error-text.ts'
import { pad, widthOf, wrap } from '../base/text/terminal-text.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import { type CheckDefinition, PROFILES, type Profile } from '../running/certifier/check.ts'
import { CHECKS } from '../running/certifier/checks/index.ts'
import { selectChecks, UnknownCheckError } from '../running/certifier/select.ts'
import type { CertifyRunOptions } from './certify-flags.ts'
import { type Context, colorLevel, columnsOf, UsageError } from './io.ts'

const TEXTS = {
  otherProfile: (ids: string, profiles: string) =>
    `${ids}: of the profile ${profiles}, which needs an agent driver: pass --agent-driver FILE.`,
}

/** The checks of a run. */
export interface CheckPlan {
  readonly checks: readonly CheckDefinition[]
  readonly profiles: readonly Profile[]
}

/** Without `--profile`, the profiles are all that can run. Throws `UsageError`. */
export function planChecks(options: CertifyRunOptions, hasDriver: boolean): CheckPlan {
  const profiles = options.profiles ?? (hasDriver ? PROFILES : ['webhook'])
  const checks = checksIn(options, profiles)
  const [other, ...others] = checks.length > 0 || options.profiles !== null ? [] : checksIn(options, PROFILES)
  if (other !== undefined)
    throw new UsageError(TEXTS.otherProfile([other, ...others].map(({ id }) => id).join(', '), other.profile))
  return { checks, profiles }
}

function checksIn(options: CertifyRunOptions, profiles: readonly Profile[]): CheckDefinition[] {
  try {
    return selectChecks(options, profiles)
  } catch (error) {
    throw error instanceof UnknownCheckError ? new UsageError(error.message) : error
  }
}

/** `certify --list`. */
export function listChecks(checks: readonly CheckDefinition[], json: boolean, { io, env }: Context): string {
  if (json) return checks.map(check => `${JSON.stringify(lineOf(check))}\n`).join('')
  const layout = { columns: columnsOf(env, io.stdout), theme: createTheme(colorLevel(env, io.stdout.isTTY)) }
  const blocks = checks.map(check => `${definitionLines(check, layout).join('\n')}\n`)
  return `${blocks.join('\n')}\n${checks.length} check${checks.length === 1 ? '' : 's'}\n`
}

interface Layout {
  readonly columns: number
  readonly theme: ReturnType<typeof createTheme>
}

const INDENT = '  '
const LABEL_COLUMNS = 10

function definitionLines(check: CheckDefinition, { columns, theme }: Layout): string[] {
  const { id, level, profile, rules, title, sends, observes, passes } = check
  const facts = `${level}, ${profile}, ${rules.join(' ')}`
  const rows = [
    ['sends', sends],
    ['observes', observes],
    ['passes', passes],
    ...needsOf(check).map(text => ['needs', text] as const),
  ] as const
  const lines = rows.flatMap(([label, text]) =>
    wrap(text, columns - INDENT.length - LABEL_COLUMNS).map(
      (line, at) => `${INDENT}${theme.faint(pad(at === 0 ? label : '', LABEL_COLUMNS))}${line}`,
    ),
  )
  return [`${theme.strong(`${id}  ${title}`)}  ${theme.faint(facts)}`, ...lines]
}

function needsOf({ needs = [], restarts = false }: CheckDefinition): string[] {
  return [
    ...(needs.length === 0 ? [] : [`an agent driver with ${needs.join(', ')}`]),
    ...(restarts ? ['an agent driver that can start the intermediary'] : []),
  ]
}

const lineOf = ({
  id,
  level,
  profile,
  rules,
  title,
  sends,
  observes,
  passes,
  needs = [],
  restarts = false,
  ...check
}: CheckDefinition) => ({
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
  capability: check.capability ?? null,
  alone: check.exclusive ?? false,
})

/** `certify --dry-run`: one line for each check. */
export function checksDryRun({ checks }: CheckPlan): string {
  const columns = Math.max(0, ...checks.map(({ id }) => widthOf(id)))
  const lines = checks.map(({ id, level, profile, title }) => `${pad(id, columns)}  ${title}  (${level}, ${profile})`)
  return `${[...lines, `${checks.length} check${checks.length === 1 ? '' : 's'} would run`].join('\n')}\n`
}

/** `certify --explain ID`: what the check does, and its help page. */
export function explainCheck(id: string, { io, env }: Context): string {
  const check = findCheck(id)
  const theme = createTheme(colorLevel(env, io.stdout.isTTY))
  const definition = definitionLines(check, { columns: columnsOf(env, io.stdout), theme })
  const [, ...page] = pageOf(check).split('\n')
  const styled = page.map(line => (line.startsWith('#') ? theme.strong(line) : line))
  return `${[...definition, ...styled].join('\n').trimEnd()}\n`
}

function findCheck(id: string): CheckDefinition {
  const check = CHECKS.find(one => one.id === id.toUpperCase())
  if (check !== undefined) return check
  const ids = CHECKS.map(one => one.id)
  throw new UsageError(
    `There is no check ${JSON.stringify(id)}${nearest(id.toUpperCase(), ids) || '; `handover-sim certify --list` prints all.'}`,
  )
}

function pageOf({ id }: CheckDefinition): string {
  const path = packagePath(`docs/checks/${id}.md`)
  if (path === null) throw new UsageError(`There is no help page for ${id}.`)
  return readFileSync(path, 'utf8')
}

/** Renders the checks of a certification and the shipped scenarios as blocks of pages. */
import { fileURLToPath } from 'node:url'
import { groupBy, keysOf } from '../src/base/objects.ts'
import { compile } from '../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../src/evaluation/scenario/load/load.ts'
import type { Plan } from '../src/evaluation/scenario/plan.ts'
import { CHECKS } from '../src/running/certifier/checks/index.ts'
import { NOT_ROTATED, type NotRotated, ROTATED } from '../src/running/certifier/rotation.ts'
import { SCENARIO_GROUPS } from '../src/running/runner/schedule.ts'
import { code, codes, table } from './markdown.ts'

const checks = (profile: string): string =>
  table(
    ['check', 'what it shows', 'level', 'rules'],
    CHECKS.filter(check => check.profile === profile).map(({ id, title, level, rules }) => [
      ...[`[${id}](${id}.md)`, title, level, rules.join(', ')],
    ]),
  )

const valueText = (value: unknown) => (Array.isArray(value) ? `[${value.join(', ')}]` : String(value))

const WHY_NOT_ROTATED: Readonly<Record<NotRotated, string>> = {
  recommended: 'a check warns where another value refuses',
  documented: "the platform's public documentation states it",
  setting: 'a setting of the workspace',
  own_check: 'a check sets it',
  more_lenient: 'another value only forgives more',
  changes_flow: 'with another value a correct intermediary acts differently',
}

async function scenarios(): Promise<string> {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const plans = compile(await loadScenarios(['scenarios'], { cwd, nodeVersion: process.version }))
  const all = [...groupBy(plans, ({ title }) => title).values()]
  const tags = [...new Set(plans.flatMap(plan => plan.tags))].sort()
  const verbs = [...new Set(plans.flatMap(({ needs }) => needs))].sort()
  const sections = Object.entries(SCENARIO_GROUPS).map(([group, about]) => {
    const rows = all.filter(([{ tags }]) => tags.includes(group)).map(rowOf)
    const shown = table(['scenario', 'what it checks', 'needs', 'tags', 'rules'], rows)
    return `## ${group}\n\n${about.charAt(0).toUpperCase()}${about.slice(1)}.\n\n${shown}\n`
  })
  return `Tags: ${codes(tags)}. Verbs: ${codes(verbs)}.\n\n${sections.join('')}${all.length} scenarios, ${plans.length} with the values of their matrix. Rules are those of [platform.md](platform.md).\n`
}

function rowOf([plan, ...others]: readonly [Plan, ...Plan[]]): string[] {
  const { title, file, description, needs, tags, spec } = plan
  const variants = others.length === 0 ? '' : ` (${others.length + 1} variants)`
  return [`[${title}](../../${file})${variants}`, description ?? '', codes(needs), codes(tags), spec.join(', ')]
}

export const CHECK_BLOCKS = {
  checks,
  'varied-knobs': () =>
    table(
      ['knob', 'values'],
      keysOf(ROTATED).map(name => [code(name), codes(ROTATED[name].map(valueText))]),
    ),
  'other-knobs': () =>
    table(
      ['why', 'knobs'],
      keysOf(WHY_NOT_ROTATED).map(why => [
        WHY_NOT_ROTATED[why],
        codes(keysOf(NOT_ROTATED).filter(name => NOT_ROTATED[name] === why)),
      ]),
    ),
  scenarios,
}

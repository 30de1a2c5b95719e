/** Orders the scenarios of a report; gives each an address in the page, and writes and reads such addresses. */
import type { Outcome, ScenarioResult, SharedCause } from '../../../evaluation/evaluator/verdict.ts'

/** Failed scenarios come first. */
export const OUTCOME_ORDER: readonly Outcome[] = ['fail', 'error', 'inconclusive', 'pass', 'skipped']

export interface LinkedScenario {
  readonly scenario: ScenarioResult
  /** Unique in the report: `happy-path`, `happy-path-2`. */
  readonly slug: string
}

/** Within an outcome, scenarios whose cause is the most frequent come first. */
export function linkScenarios(
  scenarios: readonly ScenarioResult[],
  causes: readonly Pick<SharedCause, 'scenarios'>[] = [],
): LinkedScenario[] {
  const first = causes.flatMap(cause => cause.scenarios.flatMap(index => scenarios[index] ?? []))
  const ordered = [...new Set([...first, ...scenarios])]
  const sorted = OUTCOME_ORDER.flatMap(outcome => ordered.filter(scenario => scenario.outcome === outcome))
  const usedSlugs = new Set<string>()
  const linked: LinkedScenario[] = []
  for (const scenario of sorted) {
    const base = slugOf(scenario)
    let slug = base
    for (let count = 2; usedSlugs.has(slug); count++) slug = `${base}-${count}`
    usedSlugs.add(slug)
    linked.push({ scenario, slug })
  }
  return linked
}

const MAX_SLUG_CHARS = 60

/** Letters and digits of any script, so a slug never equals the id of another element. */
function slugOf({ name, instance }: ScenarioResult): string {
  const words =
    name
      .toWellFormed()
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const slug = [...words.join('-')].slice(0, MAX_SLUG_CHARS).join('').replace(/-$/, '')
  return `${slug || 'scenario'}${instance > 1 ? `-run-${instance}` : ''}`
}

/** `#happy-path`, `#happy-path/11`. */
export const linkTo = (slug: string, seq?: number): string =>
  `#${encodeURIComponent(slug)}${seq === undefined ? '' : `/${seq}`}`

/** The parts of such an address. */
export function parseLink(hash: string): { readonly slug: string; readonly seq: number | null } {
  const [, slug = '', seq] = /^#(.*?)(?:\/(\d+))?$/.exec(hash) ?? []
  try {
    return { slug: decodeURIComponent(slug), seq: seq === undefined ? null : Number(seq) }
  } catch {
    return { slug, seq: null }
  }
}

/** Generates the pages of docs/ that come from the contract, and the catalogue of the shipped scenarios. */
import { fileURLToPath } from 'node:url'
import * as z from 'zod/mini'
import { groupBy } from '../src/base/objects.ts'
import { compile } from '../src/evaluation/scenario/compile/compile.ts'
import { loadScenarios } from '../src/evaluation/scenario/load/load.ts'
import type { Plan } from '../src/evaluation/scenario/plan.ts'
import { ASSUMPTIONS, type AssumptionClass, type AssumptionTier } from '../src/platform/contract/assumptions.ts'
import { ENDPOINTS } from '../src/platform/contract/endpoints.ts'
import { ERRORS } from '../src/platform/contract/errors.ts'
import { allowedFor, defaultKnobs, formatKnob } from '../src/platform/contract/knobs.ts'
import { SCENARIO_GROUPS } from '../src/running/runner/schedule.ts'
import { endpointExamples } from './examples-pages.ts'
import { cell } from './generated-blocks.ts'

const list = (items: readonly string[]) => items.map(item => `\`${item}\``).join(', ')
const namesOf = (items: readonly { readonly name: string }[]) => list(items.map(({ name }) => name))
const knobText = (value: unknown) =>
  Array.isArray(value) ? `[${value.join(', ')}]` : String(value) === '' ? '(empty)' : String(value)

/** The examples of a duration, which the page has once. */
const DURATIONS = ' such as 500ms, 5s, 10m, 12h'

export function assumptionsPage(): string {
  const defaults = defaultKnobs()
  const valuesOf = (name: keyof typeof defaults) =>
    `**${cell(knobText(formatKnob(name, defaults[name])))}** (${cell(allowedFor(name).replace(DURATIONS, ''))})`
  const rows = ASSUMPTIONS.map(({ name, rule, open, behaviour, knobs }) => {
    const values = knobs.map(knob => `${knob === name ? '' : `\`${knob}\`: `}${valuesOf(knob)}`)
    return `| \`${name}\` | ${rule} | ${cell(open)} | ${cell(behaviour)} | ${values.join('<br>') || 'none'} |`
  })
  const ofClass = (one: AssumptionClass) => namesOf(ASSUMPTIONS.filter(assumption => assumption.class === one))
  const ofTier = (tier: AssumptionTier) => namesOf(ASSUMPTIONS.filter(assumption => assumption.tier === tier))
  return [
    '# What the platform does not say',
    '',
    "The platform's description leaves these behaviours open. Each has the name of the knob that changes it. An answer that",
    'rests on it has the header `x-handover-sim-unspecified: start.again`, the journal has',
    '`"unspecified": { "start.again": "accept" }`, and the log shows `assumed start.again=accept` once. If your platform does',
    'something else, set the knob:',
    '',
    '| where | how |',
    '|---|---|',
    '| command line | `--set start.again=409` |',
    '| config file | `knobs: { start.again: 409 }` |',
    '| while it runs | `PATCH /_sim/config` with `{ "start.again": "409" }` |',
    "| library | `createSimulator({ knobs: { 'start.again': '409' } })` |",
    '',
    '`GET /_sim/assumptions` lists the values in force. Rules are those of [platform.md](platform.md). The default is in bold; a',
    'duration is `500ms`, `5s`, `10m` or `12h`.',
    '',
    '| assumption | rule | not said | what handover-sim does | values of the knob |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Class and tier',
    '',
    '[`calibrate`](../how-to/calibration.md) compares recordings of your platform with the values. The class is which traffic',
    'shows an assumption, the tier is what it rests on without recordings. All others are `provoked` and `assumed`.',
    '',
    '| [class](../how-to/calibration.md#three-classes) or [tier](../how-to/calibration.md#tiers) | assumptions |',
    '|---|---|',
    `| class \`ordinary\` | ${ofClass('ordinary')} |`,
    `| class \`never\` | ${ofClass('never')} |`,
    `| tier \`described\` | ${ofTier('described')} |`,
    `| tier \`documented\` | ${ofTier('documented')} |`,
    '',
  ].join('\n')
}

const fields = (schema: z.ZodMiniType | null) => {
  if (schema === null) return ''
  const json = z.toJSONSchema(schema, { io: 'input' }) as { properties?: object; required?: string[] }
  const names = Object.keys(json.properties ?? {})
  return names.map(name => (json.required?.includes(name) ? `\`${name}\`` : `\`${name}\`?`)).join(', ')
}

export function endpointsPage(): string {
  const rows = Object.values(ENDPOINTS).map(
    ({ rule, method, path, scope, body, summary }) =>
      `| ${rule} | ${summary} | ${method} | \`${path}\` | ${scope} | ${fields(body)} |`,
  )
  return [
    '# The nine endpoints',
    '',
    'Paths under `/api/v2/handover/` also answer under `/api/v2/takeover/`; a trailing slash may be there or not.',
    'Bodies are JSON; `Authorization: Bearer <key>` is always needed. A question mark stands for an optional field.',
    'A byte order mark before a body, and a `Content-Encoding`, are findings; the body is parsed as it is. A second `Host` or',
    '`Authorization` header is 400.',
    'The full description, webhooks included: `npx handover-sim openapi`.',
    '',
    '| rule | what | method | path | key | body |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    '## Request and answer',
    '',
    'One conversation as an example. An optional field may be left out.',
    '',
    ...endpointExamples(),
    '## Errors',
    '',
    'The platform publishes no codes (ER4), so each error rests on an assumption. The body is `{ "error": { "code", "message", "field"? } }`',
    'unless the knob `errors.body` says otherwise.',
    '',
    '| code | status | assumption |',
    '|---|---|---|',
    ...Object.entries(ERRORS).map(([name, { status, assumed }]) => `| \`${name}\` | ${status} | \`${assumed}\` |`),
    '',
    '## Web pages',
    '',
    'Browsers let pages on loopback addresses read every answer (CORS), and those in the knob `api.cors`. While a published',
    'default key is in force, other pages, and clients that use a host name unknown to the server, get 403 from handover-sim',
    'itself: [web pages and containers](config.md#web-pages-and-containers).',
    '',
    '## Attachments',
    '',
    '`GET {base_url}/files/{id}/{name}` serves an attachment without a key, unless `attachments.auth` is `on`. Raster images',
    '(PNG, JPEG, GIF, WebP, AVIF, BMP, ICO), audio, video and plain text are `inline`; every other type, such as HTML, SVG, XML',
    'and PDF, is downloaded (`Content-Disposition: attachment`). All have',
    "`Content-Security-Policy: sandbox; default-src 'none'`, `X-Content-Type-Options: nosniff` and",
    '`Cross-Origin-Resource-Policy: cross-origin`, so that pages of a help desk can show images.',
    '',
  ].join('\n')
}

export async function scenarioCataloguePage(): Promise<string> {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const plans = compile(await loadScenarios(['scenarios'], { cwd, nodeVersion: process.version }))
  const scenarios = [...groupBy(plans, ({ title }) => title).values()]
  const tags = [...new Set(plans.flatMap(plan => plan.tags))].sort()
  const verbs = [...new Set(plans.flatMap(({ needs }) => needs))].sort()
  return [
    '# Catalogue of the shipped scenarios',
    '',
    'handover-sim comes with these scenarios. They check what an intermediary has to do, against any help desk:',
    '',
    '```sh',
    'npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml',
    '```',
    '',
    'They are in three groups, by a tag, and run in their order. Begin with `--tag smoke`; when it passes, `--tag flow`, then',
    '`--tag robustness`. After a failure the last line of the run says which group to run next; on a terminal, when all pass, how to',
    'go on.',
    '',
    '`run --builtin --list` prints this list, and `--list --json` as JSON. `--only "Happy path"` or `builtin:happy-path.yaml`',
    'selects one, `--tag`, `--skip` and `--not-tag` select and leave out others. A scenario that needs a verb that your',
    '[agent driver](driver.md) does not have is inconclusive; for `does.announce` and `does.transfer` there is',
    '[a recipe](driver.md#verbs-of-your-own). To change a scenario, copy the folder',
    '`node_modules/handover-sim/scenarios`; the [format](scenarios.md) is documented.',
    '',
    `Tags: ${list(tags)}. Verbs: ${list(verbs)}.`,
    '',
    ...Object.entries(SCENARIO_GROUPS).flatMap(([group, about]) => [
      `## ${group}`,
      '',
      `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
      '',
      '| scenario | what it checks | needs | tags | rules |',
      '|---|---|---|---|---|',
      ...scenarios.filter(([{ tags }]) => tags.includes(group)).map(rowOf),
      '',
    ]),
    `${scenarios.length} scenarios, ${plans.length} with the values of their matrix. Rules are those of [platform.md](platform.md).`,
    '',
  ].join('\n')
}

function rowOf([plan, ...others]: readonly [Plan, ...Plan[]]): string {
  const { title, file, description, needs, tags, spec } = plan
  const variants = others.length === 0 ? '' : ` (${others.length + 1} variants)`
  const cells = [`[${title}](../../${file})${variants}`, description ?? '', list(needs), list(tags), spec.join(', ')]
  return `| ${cells.map(cell).join(' | ')} |`
}

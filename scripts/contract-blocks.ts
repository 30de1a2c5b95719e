/** Renders the contract as blocks of pages: assumptions, endpoints, errors. */
import * as z from 'zod/mini'
import { keysOf } from '../src/base/objects.ts'
import { ASSUMPTIONS, type AssumptionClass, type AssumptionTier } from '../src/platform/contract/assumptions.ts'
import { ENDPOINTS } from '../src/platform/contract/endpoints.ts'
import { ERRORS } from '../src/platform/contract/errors.ts'
import { ENDPOINT_EXAMPLES, EVENT_EXAMPLES } from '../src/platform/contract/examples.ts'
import { allowedFor, defaultKnobs, formatKnob } from '../src/platform/contract/knobs.ts'
import { code, codes, jsonBlock, table } from './markdown.ts'

const knobText = (value: unknown) =>
  Array.isArray(value) ? `[${value.join(', ')}]` : String(value) === '' ? '(empty)' : String(value)

/** The examples of a duration, which the page has once. */
const DURATIONS = ' such as 500ms, 5s, 10m, 12h'

function assumptions(): string {
  const defaults = defaultKnobs()
  const valuesOf = (name: keyof typeof defaults) =>
    `**${knobText(formatKnob(name, defaults[name]))}** (${allowedFor(name).replace(DURATIONS, '')})`
  const rows = ASSUMPTIONS.map(({ name, rule, open, behaviour, knobs }) => {
    const values = knobs.map(knob => `${knob === name ? '' : `${code(knob)}: `}${valuesOf(knob)}`)
    return [code(name), rule, open, behaviour, values.join('<br>') || 'none']
  })
  return table(['assumption', 'rule', 'not said', 'what handover-sim does', 'values of the knob'], rows)
}

function assumptionClasses(): string {
  const namesOf = (key: 'class' | 'tier', value: AssumptionClass | AssumptionTier) => [
    `${key} ${code(value)}`,
    codes(ASSUMPTIONS.filter(one => one[key] === value).map(({ name }) => name)),
  ]
  const head = '[class](../how-to/calibration.md#three-classes) or [tier](../how-to/calibration.md#tiers)'
  const classes = (['ordinary', 'never'] as const).map(one => namesOf('class', one))
  return table(
    [head, 'assumptions'],
    [...classes, ...(['described', 'documented'] as const).map(tier => namesOf('tier', tier))],
  )
}

function fieldsOf(schema: z.ZodMiniType | null): string {
  if (schema === null) return ''
  const json = z.toJSONSchema(schema, { io: 'input' }) as { properties?: object; required?: string[] }
  const names = Object.keys(json.properties ?? {})
  return names.map(name => (json.required?.includes(name) ? code(name) : `${code(name)}?`)).join(', ')
}

/** A section for an endpoint: its request and its answer. */
function exampleOf(id: keyof typeof ENDPOINTS): string {
  const { rule, summary, method, path } = ENDPOINTS[id]
  const { request, response } = ENDPOINT_EXAMPLES[id]
  const body = request === null ? '' : `${jsonBlock(request)}\n`
  return `### ${rule} ${summary}\n\n\`${method} ${path}\`\n\n${body}The answer, 200:\n\n${jsonBlock(response)}`
}

export const CONTRACT_BLOCKS = {
  assumptions,
  'assumption-classes': assumptionClasses,
  endpoints: () =>
    table(
      ['rule', 'what', 'method', 'path', 'key', 'body'],
      Object.values(ENDPOINTS).map(({ rule, method, path, scope, body, summary }) => [
        ...[rule, summary, method, code(path), scope, fieldsOf(body)],
      ]),
    ),
  'endpoint-examples': () => keysOf(ENDPOINTS).map(exampleOf).join('\n'),
  errors: () =>
    table(
      ['code', 'status', 'assumption'],
      Object.entries(ERRORS).map(([name, { status, assumed }]) => [code(name), String(status), code(assumed)]),
    ),
  events: () => Object.values(EVENT_EXAMPLES).map(jsonBlock).join('\n'),
}

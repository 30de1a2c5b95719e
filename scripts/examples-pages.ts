/** Renders the examples of the contract as JSON, for docs/reference/endpoints.md and docs/reference/webhooks.md. */
import { isMap } from '../src/base/objects.ts'
import type { EndpointId } from '../src/platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../src/platform/contract/endpoints.ts'
import { ENDPOINT_EXAMPLES } from '../src/platform/contract/examples.ts'

const COLUMNS = 110

/** JSON whose objects and lists are on one line where they fit. */
function jsonText(value: unknown, indent = ''): string {
  const spaced = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(spaced).join(', ')}]`
    if (!isMap(one) || Object.keys(one).length === 0) return JSON.stringify(one)
    return `{ ${Object.entries(one)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`)
      .join(', ')} }`
  }
  const line = spaced(value)
  if (indent.length + line.length <= COLUMNS) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) return `[\n${value.map(one => inner + jsonText(one, inner)).join(',\n')}\n${indent}]`
  if (!isMap(value)) return line
  const fields = Object.entries(value).map(([key, one]) => `${inner}${JSON.stringify(key)}: ${jsonText(one, inner)}`)
  return `{\n${fields.join(',\n')}\n${indent}}`
}

/** A value as a block of JSON. */
export const jsonBlock = (value: unknown): string => `\`\`\`json\n${jsonText(value)}\n\`\`\`\n`

/** A section for each endpoint: its request and its answer. */
export const endpointExamples = (): string[] =>
  (Object.keys(ENDPOINTS) as EndpointId[]).flatMap(id => {
    const { rule, summary, method, path } = ENDPOINTS[id]
    const { request, response } = ENDPOINT_EXAMPLES[id]
    const body = request === null ? [] : [jsonBlock(request)]
    return [
      `### ${rule} ${summary}`,
      '',
      `\`${method} ${path}\``,
      '',
      ...body,
      'The answer, 200:',
      '',
      jsonBlock(response),
    ]
  })

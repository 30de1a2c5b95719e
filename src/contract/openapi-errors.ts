/** The refusals of the platform as OpenAPI responses, drawn from the table of error codes. */
import type { Endpoint } from './endpoints.ts'
import { ERRORS, type ErrorCode, UNSPECIFIED_HEADER } from './errors.ts'
import { refTo } from './json-schema.ts'

const WORDS: Record<number, string> = {
  400: 'The body is not JSON, a parameter is wrong, or a precondition is not met',
  401: 'The API key is missing or unknown',
  403: 'The API key has not the scope this endpoint needs',
  404: 'No such chat or bot, or the two do not belong together',
  409: 'The chat is not in a state for this (only when configured so)',
  413: 'The body is too large',
  415: 'The content type is not JSON (only when configured so)',
  422: 'A parameter is wrong (only when configured so)',
  429: 'Too many calls (only when configured so)',
}

/** Codes no call of one of the nine endpoints meets. */
const ELSEWHERE: readonly ErrorCode[] = ['path_not_found', 'file_not_found', 'method_not_allowed']

const codesOf = (status: number): string[] => {
  if (status === 422) return ['invalid_parameter']
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter(code => !ELSEWHERE.includes(code))
  return codes.filter(code => ERRORS[code].status === status)
}

const name = (status: number) => `Error${status}`

export function errorResponses(): Record<string, unknown> {
  return Object.fromEntries(Object.keys(WORDS).map(status => [name(Number(status)), errorResponse(Number(status))]))
}

function errorResponse(status: number): unknown {
  const codes = codesOf(status)
  const examples = codes.map(code => [code, { value: { error: { code, message: WORDS[status], field: null } } }])
  return {
    description: `${WORDS[status]}. Codes: ${codes.join(', ')}. Not published by the platform (assumption errors.body).`,
    headers: {
      [UNSPECIFIED_HEADER]: { $ref: `#/components/headers/${UNSPECIFIED_HEADER}` },
      ...(status === 429 ? RETRY : {}),
    },
    content: { 'application/json': { schema: refTo('ErrorBody'), examples: Object.fromEntries(examples) } },
  }
}

const RETRY = { 'retry-after': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } } }

/** With a body there is more that can be wrong. 400 and 409 also come from knobs such as `start.again`. */
export function errorsOf(endpoint: Endpoint): Record<string, unknown> {
  const conflicts = ['start', 'end', 'message', 'summarize'].includes(endpoint.id)
  const withBody = endpoint.body === null ? [] : [...(conflicts ? [409] : []), 413, 415, 422]
  const statuses = [400, 401, 403, 404, 429, ...withBody].sort((a, b) => a - b)
  return Object.fromEntries(statuses.map(status => [status, { $ref: `#/components/responses/${name(status)}` }]))
}

// @ts-check
// Serves HTTP for the webhook and for the desk: reads requests, writes JSON answers.

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {{ status: number, body: unknown, headers?: Record<string, string> | undefined }} Answer */

const MAX_BODY_BYTES = 1024 * 1024

/** An error of a request. The server answers it as JSON. */
export class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {{ field?: string, headers?: Record<string, string> }} [more]
   */
  constructor(status, code, message, more = {}) {
    super(message)
    this.status = status
    this.code = code
    this.field = more.field
    this.headers = more.headers
  }

  /** @returns {Answer} */
  toAnswer() {
    const { status, code, message, field, headers } = this
    return { status, body: { error: { code, message, field } }, headers }
  }
}

/** @type {(field: string, rule: string) => HttpError} */
export function badInput(field, rule) {
  return new HttpError(400, 'bad_input', `"${field}" ${rule}.`, { field })
}

/** @param {string[]} allowed */
export function methodNotAllowed(allowed) {
  const list = allowed.join(', ')
  return new HttpError(405, 'method_not_allowed', `Use ${list}.`, { headers: { Allow: list } })
}

/**
 * Returns the bytes as they arrived, because the signature covers bytes: serialised again, the same
 * JSON may have other bytes. Reads a body that is too long to its end without keeping it: otherwise
 * the sender would get a connection reset instead of the 413.
 * @param {Request} request
 */
export async function readBody(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (size > MAX_BODY_BYTES) {
    throw new HttpError(413, 'body_too_large', `The body is longer than ${MAX_BODY_BYTES} bytes.`)
  }
  return Buffer.concat(chunks)
}

/**
 * @param {Buffer} bytes
 * @returns {Record<string, any>}
 */
export function parseObject(bytes) {
  const value = parseJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError(400, 'bad_input', 'The body must be a JSON object.')
  }
  return value
}

/** @param {Buffer} bytes */
function parseJson(bytes) {
  try {
    // `fatal`: bytes that are not UTF-8 are an error, and do not become question marks in the inbox.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new HttpError(400, 'invalid_json', 'The body is not valid JSON in UTF-8.')
  }
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {Answer} answer
 */
export function send(response, { status, body, headers }) {
  const bytes = Buffer.from(JSON.stringify(body))
  const length = String(bytes.length)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': length,
    ...headers,
  })
  response.end(bytes)
}

/** Checks what an operation returns by its contract, and encodes it; a long transcript in steps, so that other calls are answered meanwhile. */
import { checkInSteps } from '../contract/check-in-steps.ts'
import type { Endpoint } from '../contract/endpoints.ts'
import { isMap } from '../contract/objects.ts'
import { quickCheckOf } from '../contract/quick-check.ts'
import { sizeOf } from '../journal/long-bodies.ts'
import { rememberShortForm } from '../journal/short-entry.ts'
import type { Maybe } from '../platform/engines.ts'
import { sizeOfMessage } from '../platform/message-memory.ts'
import type { Chat } from '../platform/state.ts'
import { createSha256 } from '../runtime/node.ts'
import { type BodyPieces, inPieces } from '../runtime/pieces.ts'
import { jsonPieces } from '../text/json-pieces.ts'
import type { ApiCall } from './call.ts'
import { type ApiResponse, bytesResponse, JSON_TYPE, jsonResponse, withUnspecified } from './messages.ts'

/** Throws when the value breaks the contract, which is a bug of the simulator. */
export function successResponse(call: ApiCall, endpoint: Endpoint, reply: unknown): Maybe<ApiResponse> {
  if (call.hasLongAnswer && isMap(reply)) return inPieces(longResponse(call, endpoint, reply))
  if (!quickCheckOf(endpoint.response)(reply)) checkAnswer(endpoint, reply)
  call.response = reply
  return marked(call, jsonResponse(200, reply))
}

function checkAnswer(endpoint: Endpoint, reply: unknown): void {
  const checked = endpoint.response.safeParse(reply)
  if (!checked.success) throw contractError(endpoint, checked.error.message)
}

/** Adds the header that names what the call assumed. */
export function marked(call: ApiCall, answer: ApiResponse): ApiResponse {
  withUnspecified(answer.headers, call.transaction, call.ports.markers)
  return answer
}

const contractError = ({ id }: Endpoint, message: string) =>
  new Error(`The answer of ${id} breaks its contract: ${message}`)

/** In messages, or in estimated bytes. */
const LONG = { messages: 500, bytes: 500_000 }

/** Whether the transcript of a chat is written in steps. */
export function isLongTranscript({ messages, context }: Chat): boolean {
  if (messages.length > LONG.messages) return true
  let size = sizeOf(context)
  for (const message of messages) size += sizeOfMessage(message)
  return size > LONG.bytes
}

function* longResponse(call: ApiCall, endpoint: Endpoint, reply: object): Generator<void, ApiResponse> {
  const checked = yield* checkInSteps(endpoint.response, reply)
  if (!checked.success) throw contractError(endpoint, JSON.stringify(checked.issues))
  const body = yield* encodeInSteps(reply)
  call.response = reply
  return marked(call, bytesResponse(body, { 'content-type': JSON_TYPE }))
}

const encoder = new TextEncoder()

/** Hashes the bytes as well, because the journal shows a long answer as its beginning and its hash. */
function* encodeInSteps(reply: object): Generator<void, BodyPieces> {
  const pieces: Uint8Array[] = []
  const hash = createSha256()
  let length = 0
  for (const text of jsonPieces(reply)) {
    const piece = encoder.encode(text)
    pieces.push(piece)
    hash.update(piece)
    length += piece.length
    yield
  }
  const body = { length, pieces }
  rememberShortForm(reply, body, hash.hex())
  return body
}

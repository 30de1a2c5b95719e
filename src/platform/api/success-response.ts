/** Checks what an operation returns by its contract, and encodes it; a long transcript in steps, so that other calls are answered meanwhile. */

import { isMap } from '../../base/objects.ts'
import { createSha256 } from '../../base/runtime/node.ts'
import { type BodyPieces, inPieces } from '../../base/runtime/pieces.ts'
import { jsonPieces } from '../../base/text/json-pieces.ts'
import type { EndpointId } from '../contract/endpoint-routes.ts'
import { QUICK_CHECKS } from '../contract/quick-check.ts'
import { sizeOf } from '../journal/long-bodies.ts'
import { rememberShortForm } from '../journal/short-entry.ts'
import type { Maybe } from '../rules/engines.ts'
import { sizeOfMessage } from '../rules/message-memory.ts'
import type { Chat } from '../rules/state.ts'
import type { ApiCall } from './call.ts'
import { type ApiResponse, bytesResponse, JSON_TYPE, textResponse, withUnspecified } from './messages.ts'
import { schemaChecks } from './schema-checks.deferred.ts'

/** Throws when the value breaks the contract, which is a bug of the simulator. */
export function successResponse(call: ApiCall, id: EndpointId, reply: unknown): Maybe<ApiResponse> {
  if (call.hasLongAnswer && isMap(reply)) return inPieces(longResponse(call, id, reply))
  if (reply instanceof EncodedAnswer) {
    call.response = reply.value
    return marked(call, { ...textResponse(200, reply.json), isAscii: reply.isAscii })
  }
  checkReply(id, reply)
  const json = JSON.stringify(reply)
  call.response = reply
  call.responseText = json
  return marked(call, textResponse(200, json))
}

/** Throws when the value breaks the contract. */
export function checkReply(id: EndpointId, reply: unknown): void {
  if (!QUICK_CHECKS[id].response(reply)) schemaChecks().checkAnswer(id, reply)
}

/** An answer that is checked and encoded. */
export class EncodedAnswer {
  readonly json: string
  readonly isAscii: boolean
  readonly value: unknown

  constructor(json: string, isAscii: boolean, value: unknown) {
    this.json = json
    this.isAscii = isAscii
    this.value = value
  }
}

/** Adds the header that names what the call assumed. */
export function marked(call: ApiCall, answer: ApiResponse): ApiResponse {
  withUnspecified(answer.headers, call.transaction, call.ports.markers)
  return answer
}

/** In messages, or in estimated bytes. */
const LONG = { messages: 500, bytes: 500_000 }

/** Whether the transcript of a chat is written in steps. */
export function isLongTranscript({ messages, context }: Chat): boolean {
  if (messages.length > LONG.messages) return true
  let size = sizeOf(context)
  for (const message of messages) size += sizeOfMessage(message)
  return size > LONG.bytes
}

function* longResponse(call: ApiCall, id: EndpointId, reply: object): Generator<void, ApiResponse> {
  yield* schemaChecks().checkAnswerInSteps(id, reply)
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

/** Does long work in pieces, so that the process answers others meanwhile, and holds long bodies in pieces. */
import { elapsedMs, nextMacrotask } from './clock.ts'

const PIECE_MS = 8

/** Runs all steps. Events that wait for the process come first whenever the steps have taken a while. */
export async function inPieces<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const until = elapsedMs() + PIECE_MS
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (elapsedMs() < until)
    await nextMacrotask()
  }
}

/** Runs all steps in one go. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** A long body. Its pieces are made when they are sent. */
export interface BodyPieces {
  /** Bytes of all pieces. */
  readonly length: number
  readonly pieces: Iterable<Uint8Array>
}

const encoder = new TextEncoder()

/** The bytes of a body in one piece, for those who cannot send pieces. */
export function wholeBody(body: string | Uint8Array | BodyPieces): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof Uint8Array) return body
  const whole = new Uint8Array(body.length)
  let at = 0
  for (const piece of body.pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Whether a body has to be sent piece by piece. */
export const isInPieces = (body: string | Uint8Array | BodyPieces): body is BodyPieces =>
  typeof body === 'object' && 'pieces' in body

/** A piece is made when the reader asks for it. */
export function streamOfPieces({ pieces }: BodyPieces): ReadableStream<Uint8Array> {
  const rest = pieces[Symbol.iterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        await nextMacrotask()
        const { done, value } = rest.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Stores the bytes of many short bodies in few blocks: the garbage collector moves texts, and never these. Bodies leave in
 * about the order in which they came, so a few blocks are used again and again.
 */
import { createBytes, writeUtf8 } from '../../base/runtime/encoding.ts'

/** Holds bytes of several owners. */
export class Block {
  readonly bytes: Uint8Array
  /** The bytes in use, from the beginning. */
  used = 0
  /** How many owners have bytes in it. */
  owners = 0

  constructor(length: number) {
    this.bytes = createBytes(length)
  }

  /** Returns where the bytes begin. */
  add(bytes: Uint8Array): number {
    const start = this.used
    this.bytes.set(bytes, start)
    this.used += bytes.length
    return start
  }

  /** Returns the length of the text in bytes, which are the last ones in use. */
  addText(text: string): number {
    const length = writeUtf8(text, this.bytes, this.used)
    this.used += length
    return length
  }
}

export interface ByteStore {
  /** Returns a block with room for so many bytes, for one more owner. */
  take(length: number): Block
  /** An owner needs its bytes no more. */
  release(block: Block): void
}

/** The first block is small, because most simulators receive few calls. */
const FIRST_BYTES = 4_096
const LARGEST_BYTES = 1_048_576

export function createByteStore(): ByteStore {
  let current = new Block(0)
  /** A block without owners, to use when the current one is full. */
  let unused: Block | null = null

  function next(length: number): Block {
    const wanted = Math.max(length, Math.min(LARGEST_BYTES, Math.max(FIRST_BYTES, current.bytes.length * 2)))
    const block = unused !== null && unused.bytes.length >= wanted ? unused : new Block(wanted)
    unused = null
    return block
  }

  return {
    take(length) {
      if (current.used + length > current.bytes.length) current = next(length)
      current.owners++
      return current
    },
    release(block) {
      block.owners--
      if (block.owners > 0) return
      block.used = 0
      if (block !== current) unused = block
    },
  }
}

/** Stores the bytes of many short bodies in few blocks: the garbage collector moves texts, and never these. */

/** A part of a block. A block is freed with the last one that refers to it. */
export interface StoredBytes {
  readonly block: Uint8Array
  readonly start: number
  readonly length: number
}

export interface ByteStore {
  add(bytes: Uint8Array): StoredBytes
}

/** The first block is small, because most simulators receive few calls. */
const FIRST_BYTES = 4_096
const LARGEST_BYTES = 1_048_576

export function createByteStore(): ByteStore {
  let block = new Uint8Array(0)
  let used = 0
  function grow(needed: number): void {
    const larger = Math.min(LARGEST_BYTES, Math.max(FIRST_BYTES, block.length * 2))
    block = new Uint8Array(Math.max(larger, needed))
    used = 0
  }
  return {
    add(bytes) {
      const { length } = bytes
      if (used + length > block.length) grow(length)
      block.set(bytes, used)
      const start = used
      used += length
      return { block, start, length }
    },
  }
}

export const bytesOfStored = ({ block, start, length }: StoredBytes): Uint8Array =>
  block.subarray(start, start + length)

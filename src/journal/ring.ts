/** Stores a sequence numbered from 1, bounded by the number of items and by the sum of their sizes. */

export type RingBound = 'count' | 'size'

export interface Ring<T> {
  readonly first: number
  readonly next: number
  /** The bound that evicts an item when one more of this size is pushed. */
  wouldExceed(size: number): RingBound | null
  /** Drops the oldest items that exceed a bound; the newest item always stays. */
  push(item: T, size?: number): void
  at(seq: number): T | undefined
  /** Stores another item at a number that is in use. */
  replace(seq: number, item: T): void
  sizeOf(seq: number): number
  since(after: number): Iterable<T>
  /** Removes all items; the next one gets the number `next`. */
  clear(next?: number): void
}

/** `onDrop` gets each item that a bound evicts. */
export function createRing<T>(
  limit: number,
  sizeLimit = Number.POSITIVE_INFINITY,
  onDrop: (item: T) => void = () => {},
): Ring<T> {
  let slots: (T | undefined)[] = []
  let sizes: number[] = []
  let next = 1
  let first = 1
  let total = 0
  const at = (seq: number) => (seq >= first && seq < next ? slots[(seq - 1) % limit] : undefined)

  function wouldExceed(size: number): RingBound | null {
    if (first === next) return null
    return next - first >= limit ? 'count' : total + size > sizeLimit ? 'size' : null
  }

  function evict(): void {
    const slot = (first - 1) % limit
    const item = slots[slot]
    total -= sizes[slot] ?? 0
    slots[slot] = undefined
    first++
    if (item !== undefined) onDrop(item)
  }

  return {
    get first() {
      return first
    },
    get next() {
      return next
    },
    wouldExceed,
    push(item, size = 0) {
      while (wouldExceed(size) !== null) evict()
      const slot = (next - 1) % limit
      slots[slot] = item
      sizes[slot] = size
      total += size
      next++
    },
    at,
    replace(seq, item) {
      if (at(seq) !== undefined) slots[(seq - 1) % limit] = item
    },
    sizeOf: seq => (at(seq) === undefined ? 0 : (sizes[(seq - 1) % limit] ?? 0)),
    *since(after) {
      for (let seq = Math.max(first, after + 1); seq < next; seq++) {
        const item = at(seq)
        if (item !== undefined) yield item
      }
    },
    clear(from = 1) {
      slots = []
      sizes = []
      first = from
      next = from
      total = 0
    },
  }
}

/** Stores a sequence numbered from 1, bounded by the number of items and by the sum of their sizes. */

export type RingBound = 'count' | 'size'

export class Ring<T> {
  readonly #limit: number
  readonly #sizeLimit: number
  readonly #onDrop: (item: T) => void
  #slots: (T | undefined)[] = []
  #sizes: number[] = []
  #first = 1
  #next = 1
  #total = 0

  /** `onDrop` gets each item that a bound evicts. */
  constructor(limit: number, sizeLimit = Number.POSITIVE_INFINITY, onDrop: (item: T) => void = () => {}) {
    this.#limit = limit
    this.#sizeLimit = sizeLimit
    this.#onDrop = onDrop
  }

  get first(): number {
    return this.#first
  }

  get next(): number {
    return this.#next
  }

  /** The bound that evicts an item when one more of this size is pushed. */
  wouldExceed(size: number): RingBound | null {
    if (this.#first === this.#next) return null
    if (this.#next - this.#first >= this.#limit) return 'count'
    return this.#total + size > this.#sizeLimit ? 'size' : null
  }

  /** Drops the oldest items that exceed a bound; the newest item always stays. */
  push(item: T, size = 0): void {
    while (this.wouldExceed(size) !== null) this.#evict()
    const slot = this.#slotOf(this.#next)
    this.#slots[slot] = item
    this.#sizes[slot] = size
    this.#total += size
    this.#next++
  }

  at(seq: number): T | undefined {
    return seq >= this.#first && seq < this.#next ? this.#slots[this.#slotOf(seq)] : undefined
  }

  /** Stores another item at a number that is in use. */
  replace(seq: number, item: T): void {
    if (this.at(seq) !== undefined) this.#slots[this.#slotOf(seq)] = item
  }

  sizeOf(seq: number): number {
    return this.at(seq) === undefined ? 0 : (this.#sizes[this.#slotOf(seq)] ?? 0)
  }

  /** Removes all items; the next one gets the number `next`. */
  clear(next = 1): void {
    this.#slots = []
    this.#sizes = []
    this.#first = next
    this.#next = next
    this.#total = 0
  }

  #slotOf(seq: number): number {
    return (seq - 1) % this.#limit
  }

  #evict(): void {
    const slot = this.#slotOf(this.#first)
    const item = this.#slots[slot]
    this.#total -= this.#sizes[slot] ?? 0
    this.#slots[slot] = undefined
    this.#first++
    if (item !== undefined) this.#onDrop(item)
  }
}

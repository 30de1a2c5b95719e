/** Stores a bounded sequence numbered from 1: a push beyond the limit drops the oldest item. */
export interface Ring<T> {
  readonly first: number
  readonly next: number
  push(item: T): void
  at(seq: number): T | undefined
  since(after: number): Iterable<T>
  clear(): void
  /** Replaces all items; the last one gets the number before `next`. */
  refill(items: readonly T[], next: number): void
}

export function createRing<T>(limit: number): Ring<T> {
  let slots: T[] = []
  let next = 1
  let floor = 1
  const first = () => Math.max(floor, next - limit)
  const at = (seq: number) => (seq >= first() && seq < next ? slots[(seq - 1) % limit] : undefined)
  return {
    get first() {
      return first()
    },
    get next() {
      return next
    },
    push(item) {
      slots[(next - 1) % limit] = item
      next++
    },
    at,
    *since(after) {
      for (let seq = Math.max(first(), after + 1); seq < next; seq++) {
        const item = at(seq)
        if (item !== undefined) yield item
      }
    },
    clear() {
      slots = []
      next = 1
      floor = 1
    },
    refill(items, from) {
      slots = []
      floor = from - items.length
      items.forEach((item, index) => {
        slots[(floor - 1 + index) % limit] = item
      })
      next = from
    },
  }
}

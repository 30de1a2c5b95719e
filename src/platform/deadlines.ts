/** Keeps deadlines on the simulator's clock by key, as plain data without timers; setting a key again replaces its deadline. */
import type { Button } from '../contract/schemas.ts'

export type DeadlineAction =
  | { readonly kind: 'typing'; readonly chatId: string }
  | { readonly kind: 'idle'; readonly chatId: string }
  | { readonly kind: 'reply'; readonly chatId: string; readonly text: string; readonly buttons: readonly Button[] }

interface Slot {
  readonly key: string
  readonly atMs: number
  readonly order: number
  readonly deadline: DeadlineAction
}

export interface Deadlines {
  set(key: string, atMs: number, deadline: DeadlineAction): void
  delete(key: string): void
  nextMs(): number | null
  /** Removes and returns the earliest deadline due at `nowMs`; equal times in the order they were set. */
  take(nowMs: number): DeadlineAction | null
  clear(): void
  /** All deadlines, in the order they were set. */
  list(): { readonly key: string; readonly atMs: number; readonly deadline: DeadlineAction }[]
}

const before = (a: Slot, b: Slot) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A binary heap. Replaced slots stay in it until they reach the top, or until they outnumber the current ones. */
export function createDeadlines(): Deadlines {
  const live = new Map<string, Slot>()
  let heap: Slot[] = []
  let order = 0

  function siftUp(from: number): void {
    for (let i = from; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!before(heap[i]!, heap[parent]!)) return
      swap(i, parent)
      i = parent
    }
  }
  function siftDown(from: number): void {
    for (let i = from; ; ) {
      const left = 2 * i + 1
      let least = i
      if (left < heap.length && before(heap[left]!, heap[least]!)) least = left
      if (left + 1 < heap.length && before(heap[left + 1]!, heap[least]!)) least = left + 1
      if (least === i) return
      swap(i, least)
      i = least
    }
  }
  function swap(a: number, b: number): void {
    const swapped = heap[a]!
    heap[a] = heap[b]!
    heap[b] = swapped
  }
  function pop(): void {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    siftDown(0)
  }
  function top(): Slot | null {
    while (heap.length > 0 && live.get(heap[0]!.key) !== heap[0]) pop()
    return heap[0] ?? null
  }
  function compact(): void {
    if (heap.length < 64 || heap.length < 2 * live.size) return
    heap = [...live.values()].sort((a, b) => (before(a, b) ? -1 : 1))
  }

  return {
    set(key, atMs, deadline) {
      const slot = { key, atMs, order: order++, deadline }
      live.set(key, slot)
      heap.push(slot)
      siftUp(heap.length - 1)
      compact()
    },
    delete: key => void live.delete(key),
    nextMs: () => top()?.atMs ?? null,
    take(nowMs) {
      const due = top()
      if (due === null || due.atMs > nowMs) return null
      live.delete(due.key)
      pop()
      return due.deadline
    },
    list: () =>
      [...live.values()].sort((a, b) => a.order - b.order).map(({ key, atMs, deadline }) => ({ key, atMs, deadline })),
    clear() {
      live.clear()
      heap = []
    },
  }
}

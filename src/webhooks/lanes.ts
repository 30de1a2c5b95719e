/** Per chat first in, first out; chats beside each other (`webhook.order`). */
export interface Lanes<Job> {
  add(lane: string, job: Job): void
  /** Before whatever waits, in this order. */
  addFirst(lane: string, jobs: readonly Job[]): void
  /** The job of this lane is over: the next one runs. */
  next(lane: string): void
  /** A job of this lane is already under way: others wait until `next`. */
  occupy(lane: string): void
  /** Those that wait, lane by lane, in the order of their names. */
  waiting(): Job[]
  clear(): void
}

/** `pick` chooses which waiting job a lane runs next; when what `run` began has ended, `next` is called. */
export function createLanes<Job>(pick: (waiting: readonly Job[]) => number, run: (job: Job) => void): Lanes<Job> {
  const lanes = new Map<string, Job[]>()

  function open(lane: string, job: Job, more: Job[]): void {
    lanes.set(lane, more)
    run(job)
  }

  return {
    add(lane, job) {
      const waiting = lanes.get(lane)
      if (waiting === undefined) open(lane, job, [])
      else waiting.push(job)
    },
    addFirst(lane, [first, ...more]) {
      if (first === undefined) return
      const waiting = lanes.get(lane)
      if (waiting === undefined) open(lane, first, more)
      else waiting.unshift(first, ...more)
    },
    next(lane) {
      const waiting = lanes.get(lane)
      if (waiting === undefined || waiting.length === 0) return void lanes.delete(lane)
      const [job] = waiting.splice(pick(waiting), 1)
      run(job!)
    },
    occupy: lane => void (lanes.has(lane) || lanes.set(lane, [])),
    waiting: () => [...lanes.keys()].sort().flatMap(lane => lanes.get(lane)!),
    clear: () => lanes.clear(),
  }
}

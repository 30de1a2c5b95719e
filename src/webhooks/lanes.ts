/** Per chat first in, first out; chats beside each other (assumption 5). */
export interface Lanes<Job> {
  add(lane: string, job: Job): void
  clear(): void
}

/** `pick` chooses which waiting job a lane runs next; `run` calls `done` when the lane may go on. */
export function createLanes<Job>(
  pick: (waiting: readonly Job[]) => number,
  run: (job: Job, done: () => void) => void,
): Lanes<Job> {
  const lanes = new Map<string, Job[]>()
  let epoch = 0

  function next(lane: string, from: number): void {
    if (from !== epoch) return
    const waiting = lanes.get(lane)
    if (waiting === undefined || waiting.length === 0) return void lanes.delete(lane)
    const [job] = waiting.splice(pick(waiting), 1)
    run(job!, () => next(lane, from))
  }

  return {
    add(lane, job) {
      const waiting = lanes.get(lane)
      if (waiting !== undefined) return void waiting.push(job)
      lanes.set(lane, [])
      const from = epoch
      run(job, () => next(lane, from))
    },
    clear() {
      epoch++
      lanes.clear()
    },
  }
}

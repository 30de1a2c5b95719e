/** Events a fault keeps back until later ones of their chat have passed, or the fault is cleared. None is lost. */
export interface KeptBack<Job> {
  keep(job: Job, why: { readonly faults: readonly string[]; readonly passing: number; release(): void }): void
  /** An event's turn is over: those it freed, oldest first. */
  passedBy(job: Job): Job[]
  /** Those kept back by these faults, oldest first. */
  free(faults: readonly string[]): Job[]
  /** How many are still to pass it. */
  passing(job: Job): number
  clear(): void
}

interface Kept<Job> {
  readonly job: Job
  readonly faults: readonly string[]
  readonly release: () => void
  passing: number
}

export function createKeptBack<Job extends { readonly seq: number; readonly lane: string }>(): KeptBack<Job> {
  let kept: Kept<Job>[] = []

  function releaseIf(which: (one: Kept<Job>) => boolean): Job[] {
    const free = kept.filter(which)
    if (free.length === 0) return []
    kept = kept.filter(one => !free.includes(one))
    for (const one of free) one.release()
    return free.map(({ job }) => job)
  }

  return {
    keep(job, { faults, passing, release }) {
      kept.push({ job, faults, passing, release })
    },
    passedBy({ seq, lane }) {
      for (const one of kept) if (one.job.lane === lane && one.job.seq < seq) one.passing--
      return releaseIf(one => one.passing <= 0)
    },
    free: faults => releaseIf(one => one.faults.some(name => faults.includes(name))),
    passing: job => kept.find(one => one.job === job)?.passing ?? 0,
    clear() {
      kept = []
    },
  }
}

/** Calls functions when a signal aborts, through one listener for all of them: to add and to remove one takes long. */
const followers = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `run` once, unless the signal has aborted before. The returned function stops this. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const runs = followers.get(signal) ?? follow(signal)
  runs.add(run)
  return () => void runs.delete(run)
}

function follow(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>()
  followers.set(signal, runs)
  signal.addEventListener('abort', () => {
    for (const run of runs) run()
  })
  return runs
}

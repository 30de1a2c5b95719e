/** Measures how busy this thread is (the share of the time in which its event loop works, and how late its timers are), and the work of this process. */

export interface ProcessLoad {
  /** From 0 to 1. */
  readonly busyShare: number
  /** The 99th percentile of how late timers are, in milliseconds. */
  readonly loopDelayMs: number
}

/** A timer of this length is measured again and again. */
const RESOLUTION_MS = 5

/** Returns a function that measures the time since its last call, or since the beginning. */
export function watchProcessLoad(): { read(): ProcessLoad; close(): void } {
  const { monitorEventLoopDelay, performance } = process.getBuiltinModule('node:perf_hooks')
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = performance.eventLoopUtilization()
  return {
    read() {
      const now = performance.eventLoopUtilization()
      const { utilization: busyShare } = performance.eventLoopUtilization(now, before)
      const loopDelayMs = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS)
      before = now
      delay.reset()
      return { busyShare, loopDelayMs }
    },
    close: () => void delay.disable(),
  }
}

/** The time that this process has used the processor, in milliseconds. */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

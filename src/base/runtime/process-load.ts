/** Measures how busy this process is: its processor time, and how late its event loop is. */

export interface ProcessLoad {
  /** Of one core, from 0 to 1; more with other threads. */
  readonly cpuShare: number
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
  let cpu = process.cpuUsage()
  let atMs = performance.now()
  return {
    read() {
      const used = process.cpuUsage(cpu)
      const nowMs = performance.now()
      const cpuShare = (used.user + used.system) / 1000 / Math.max(1, nowMs - atMs)
      const loopDelayMs = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS)
      cpu = process.cpuUsage()
      atMs = nowMs
      delay.reset()
      return { cpuShare, loopDelayMs }
    },
    close: () => void delay.disable(),
  }
}

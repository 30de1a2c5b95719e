/**
 * Preloaded into an attacked process: measures the longest time of the processor that one turn of its event loop takes.
 * Other processes do not count. The message `start` begins a measurement, `read` ends it and sends the result back.
 */
let longestMs = 0
let last = null

const usedMs = () => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

function turn() {
  if (last === null) return
  const now = usedMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
  setImmediate(turn)
}

process.on('message', message => {
  if (message === 'start') {
    longestMs = 0
    last = usedMs()
    setImmediate(turn)
  } else {
    last = null
    process.send?.({ longestMs })
  }
})
process.channel?.unref()

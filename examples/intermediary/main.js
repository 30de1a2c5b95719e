// @ts-check
// Starts the process: reads the environment, prints the Ready line, stops cleanly on a signal.

import { startIntermediary } from './intermediary.js'
import { log } from './log.js'
import { readSettings } from './settings.js'

try {
  await main()
} catch (error) {
  log(`Cannot start: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function main() {
  // A Node process that started this one as a child has ended, also when it was killed.
  process.once('disconnect', () => process.exit())
  const intermediary = await startIntermediary(readSettings(process.env))
  // stdout carries this line and nothing else, so that a script can wait for it and read the port.
  console.log(`Ready: ${intermediary.url}`)
  // `once`: a second signal reaches the default handler, which kills the process.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      log(`${signal}: finishing the work in flight`)
      await intermediary.close()
      process.exit(0)
    })
  }
}

/** Creates a driver from functions of the same process. */
import { connectDriver } from './create-driver.ts'
import type { Driver } from './driver.ts'
import { readModule } from './load-driver.ts'

/** Takes what a driver module exports. Throws `ConfigError`. */
export const functionDriver = (verbs: Readonly<Record<string, unknown>>): Driver =>
  connectDriver(readModule(verbs, { name: 'agent' }), {}, null)

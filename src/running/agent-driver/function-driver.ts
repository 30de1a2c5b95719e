/** Creates a driver from functions of the same process. */
import { driverOf } from './create-driver.ts'
import type { Driver } from './driver.ts'
import { readModule } from './load-driver.ts'

/** Takes what a driver module exports. Throws `ConfigError`. */
export const functionDriver = (verbs: Readonly<Record<string, unknown>>): Driver =>
  driverOf(readModule(verbs, { name: 'agent' }), {}, null)

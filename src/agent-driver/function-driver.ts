/** Creates a driver from functions of the same process. */
import { moduleSource } from '../files/document.ts'
import { driverOf } from './create-driver.ts'
import type { Driver } from './driver.ts'
import { splitFunctions } from './load-driver.ts'
import { readDriver } from './read-driver.ts'

const NAME = 'agent'

/** Takes what a driver module exports. Throws `ConfigError`. */
export function functionDriver(verbs: Readonly<Record<string, unknown>>): Driver {
  const { data, functions } = splitFunctions(NAME, verbs)
  const origin = { name: NAME, folder: '.', http: null, commands: false, prompt: null }
  return driverOf(readDriver(moduleSource(NAME, data), { ...origin, functions }), {}, null)
}

/** Generates the JSON Schemas for editors from the schemas of the program. */

import { scenarioJsonSchema } from '../src/evaluation/scenario/format/json-schema.ts'
import { driverJsonSchema } from '../src/running/agent-driver/read-driver.ts'
import { capabilitiesJsonSchema } from '../src/running/certifier/capabilities.ts'
import { expectedFailuresJsonSchema } from '../src/running/certifier/expected-failures.ts'
import { configJsonSchema } from '../src/server/config/schema.ts'

/** Returns file name -> text. */
export const schemaFiles = (): Record<string, string> => ({
  'capabilities.v1.json': fileOf(capabilitiesJsonSchema()),
  'config.v1.json': fileOf(configJsonSchema()),
  'driver.v1.json': fileOf(driverJsonSchema()),
  'expected-failures.v1.json': fileOf(expectedFailuresJsonSchema()),
  'scenario.v1.json': fileOf(scenarioJsonSchema()),
})

/** A line for each property, so that a change is readable, and without indentation, which would be half of the file. */
const fileOf = (schema: unknown): string => `${JSON.stringify(schema, null, 1).replace(/\n +/g, '\n')}\n`

/** Generates the JSON Schemas for editors from the schemas of the program. */

import { scenarioJsonSchema } from '../src/evaluation/scenario/format/json-schema.ts'
import { driverJsonSchema } from '../src/running/agent-driver/read-driver.ts'
import { capabilitiesJsonSchema } from '../src/running/certifier/capabilities.ts'
import { expectedFailuresJsonSchema } from '../src/running/certifier/expected-failures.ts'
import { configJsonSchema } from '../src/server/config/schema.ts'

/** Returns file name -> text. */
export const schemaFiles = (): Record<string, string> => ({
  'capabilities.v1.json': `${JSON.stringify(capabilitiesJsonSchema(), null, 2)}\n`,
  'config.v1.json': `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  'driver.v1.json': `${JSON.stringify(driverJsonSchema(), null, 2)}\n`,
  'expected-failures.v1.json': `${JSON.stringify(expectedFailuresJsonSchema(), null, 2)}\n`,
  'scenario.v1.json': `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`,
})

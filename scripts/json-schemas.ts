/** Generates the JSON Schemas for editors from the schemas of the program. */
import { driverJsonSchema } from '../src/agent-driver/driver-schema.ts'
import { configJsonSchema } from '../src/config/schema.ts'
import { scenarioJsonSchema } from '../src/scenario/format/json-schema.ts'

/** Returns file name -> text. */
export const schemaFiles = (): Record<string, string> => ({
  'config.v1.json': `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  'driver.v1.json': `${JSON.stringify(driverJsonSchema(), null, 2)}\n`,
  'scenario.v1.json': `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`,
})

/** Writes the JSON Schemas that editors use from the schemas the program uses. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { driverJsonSchema } from '../src/agent-driver/driver-json-schema.ts'
import { configJsonSchema } from '../src/config/schema.ts'
import { scenarioJsonSchema } from '../src/scenario/format/json-schema.ts'

const FOLDER = new URL('../schema/', import.meta.url)

/** File name -> text. */
export const schemaFiles = (): Record<string, string> => ({
  'config.v1.json': `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  'driver.v1.json': `${JSON.stringify(driverJsonSchema(), null, 2)}\n`,
  'scenario.v1.json': `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`,
})

function current(name: string): string | null {
  try {
    return readFileSync(new URL(name, FOLDER), 'utf8')
  } catch {
    return null
  }
}

if (import.meta.main) {
  const stale = Object.entries(schemaFiles()).filter(([name, text]) => current(name) !== text)
  const checkOnly = process.argv.includes('--check')
  if (!checkOnly) for (const [name, text] of stale) writeFileSync(new URL(name, FOLDER), text)
  for (const [name] of stale) console.log(`schema/${name}: ${checkOnly ? 'is not up to date' : 'written'}`)
  if (checkOnly && stale.length > 0) process.exitCode = 1
}

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { schemaFiles } from '../../scripts/json-schemas.ts'
import { ConfigFile, configJsonSchema } from '../../src/config/schema.ts'
import { defaultKnobs, formatKnobs, KNOB_NAMES } from '../../src/contract/knobs.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const validate = ajv.compile(configJsonSchema())

describe('the JSON Schema for editors', () => {
  it.each(Object.entries(schemaFiles()))('schema/%s is up to date (npm run generate)', (name, text) => {
    expect(readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')).toBe(text)
  })

  it('has every knob, with words, both ways of writing it', () => {
    const { properties, $defs } = configJsonSchema() as {
      properties: { knobs: { properties: Record<string, { properties?: object }> } }
      $defs: Record<string, { description: string }>
    }
    for (const name of KNOB_NAMES) {
      const [group, rest] = name.split('.') as [string, string]
      expect(properties.knobs.properties).toHaveProperty([name])
      expect(properties.knobs.properties[group]?.properties).toHaveProperty(rest)
      expect($defs[name]?.description).toContain('Unless set: ')
    }
  })

  it('takes every default as it is shown', () => {
    validate({ knobs: formatKnobs(defaultKnobs()) })
    expect(validate.errors).toBeNull()
  })

  const AGREED: [string, string, boolean][] = [
    ['the words YAML reads otherwise', 'knobs: { errors.validation: 422, transcript.takenOver: null }', true],
    ['true for on', 'knobs: { keys.shared: true, webhook.retry: false }', true],
    ['an unknown key', 'prot: 1', false],
    ['an unknown knob', 'knobs: { webhok: {} }', false],
    ['a duration without unit', 'knobs: { bot.delay: 5 }', false],
    ['an unknown word', 'knobs: { typing.webhook: maybe }', false],
    ['a bad port', 'port: 70000', false],
    ['hours', 'business_hours: { time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }', true],
    ['hours without a zone', 'business_hours: { mon: "09:00-17:00" }', false],
    ['no hours', 'business_hours: null', true],
    ['a day that is none', 'business_hours: { time_zone: UTC, monday: "09:00-17:00" }', false],
    ['a rate', 'knobs: { limits.rate: 10/1s }', true],
  ]
  it.each(AGREED)('agrees with the program about %s', (_what, text, right) => {
    const value = parse(text) as unknown
    expect(validate(value)).toBe(right)
    expect(ConfigFile.safeParse(value).success).toBe(right)
  })
})

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { schemaFiles } from '../../scripts/json-schemas.ts'
import { defaultKnobs, formatKnobs, KNOB_NAMES } from '../../src/platform/contract/knobs.ts'
import { ConfigFile, configJsonSchema } from '../../src/server/config/schema.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const validate = ajv.compile(configJsonSchema())

describe('the JSON Schema for editors', () => {
  it.each(Object.entries(schemaFiles()))('schema/%s is up to date (npm run generate)', (name, text) => {
    expect(readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')).toBe(text)
  })

  it('describes every knob, dotted and nested', () => {
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

  it('accepts every default in its canonical form', () => {
    validate({ knobs: formatKnobs(defaultKnobs()) })
    expect(validate.errors).toBeNull()
  })

  const AGREED: [string, string, boolean][] = [
    ['words that YAML reads as other values', 'knobs: { errors.validation: 422, transcript.takenOver: null }', true],
    ['true in place of on', 'knobs: { keys.shared: true, webhook.retry: false }', true],
    ['an unknown key', 'prot: 1', false],
    ['an unknown knob', 'knobs: { webhok: {} }', false],
    ['a duration without unit', 'knobs: { bot.delay: 5 }', false],
    ['an unknown word', 'knobs: { typing.webhook: maybe }', false],
    ['a port above 65535', 'port: 70000', false],
    ['business hours', 'business_hours: { time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }', true],
    ['business hours without a time zone', 'business_hours: { mon: "09:00-17:00" }', false],
    [
      'hours of several spans, a night and dates',
      'business_hours: { time_zone: UTC, mon: ["09:00-12:00", "22:00-06:00"], sat: [], sun: , 2026-12-24: closed, 2026-12-31: "09:00-24:00" }',
      true,
    ],
    ['hours that end after 24:00', 'business_hours: { time_zone: UTC, mon: "09:00-24:30" }', false],
    ['a list with a word', 'business_hours: { time_zone: UTC, mon: [closed] }', false],
    ['a month that does not exist', 'business_hours: { time_zone: UTC, 2026-13-01: closed }', false],
    ['null as business hours', 'business_hours: null', true],
    ['an unknown day', 'business_hours: { time_zone: UTC, monday: "09:00-17:00" }', false],
    ['a rate', 'knobs: { limits.rate: 10/1s }', true],
  ]
  it.each(AGREED)('gives the same result as the program for %s', (_what, text, right) => {
    const value = parse(text) as unknown
    expect(validate(value)).toBe(right)
    expect(ConfigFile.safeParse(value).success).toBe(right)
  })
})

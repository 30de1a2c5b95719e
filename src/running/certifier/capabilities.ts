/** Reads what an intermediary or its help desk does not have: a check of a missing capability does not apply. */
import * as z from 'zod/mini'
import { described } from '../../platform/simulator/setting-schemas.ts'
import { readInputFile } from './input-files.ts'

export const CAPABILITIES = ['attachments', 'translation', 'typing', 'system_messages', 'availability'] as const
export type Capability = (typeof CAPABILITIES)[number]

const flag = (description: string) => z.optional(z.boolean().check(described(description)))

/** The file of `--capabilities`. What is not named is there. */
const CapabilityFile = z.strictObject({
  version: z.literal(1),
  attachments: flag('Agents see the files of end users'),
  translation: flag('Chats in languages that no agent speaks are translated by the platform'),
  typing: flag('The intermediary reports when an agent types'),
  system_messages: flag('Agents or their help desk send system messages'),
  availability: flag('The intermediary reports when no agent is available'),
})

export function capabilitiesJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(CapabilityFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Capabilities of an intermediary, for handover-sim certify', ...schema }
}

/** The capabilities that are missing. Throws `ConfigError`. */
export function loadMissingCapabilities(name: string, cwd: string): Capability[] {
  const { value } = readInputFile(name, cwd, CapabilityFile)
  return CAPABILITIES.filter(capability => value[capability] === false)
}

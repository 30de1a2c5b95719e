/** Defines what an intermediary or its help desk may not have: a check of a missing capability does not apply. */
import * as z from 'zod/mini'

export const CAPABILITIES = ['attachments', 'translation', 'typing', 'system_messages', 'availability'] as const
export type Capability = (typeof CAPABILITIES)[number]

const flag = z.optional(z.boolean())

/** The capability file. What is not named is there. */
export const CapabilityFile = z.strictObject({
  version: z.literal(1),
  attachments: flag,
  translation: flag,
  typing: flag,
  system_messages: flag,
  availability: flag,
})
export type CapabilityFile = z.infer<typeof CapabilityFile>

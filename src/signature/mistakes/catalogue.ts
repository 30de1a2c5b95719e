/** Lists all known mistakes with their texts. */
import { BODIES } from './bodies.ts'
import { FORMS, RECEIVED } from './header-values.ts'
import { HASHES, KEYS } from './keys.ts'
import type { MistakeText } from './mistake.ts'

const ROWS = [...FORMS, ...KEYS, ...BODIES, ...HASHES] as const

/** The id of a mistake; `right` when there is none. */
export type MistakeId = keyof typeof RECEIVED | (typeof ROWS)[number]['id']

export const MISTAKES = {
  ...RECEIVED,
  ...Object.fromEntries(ROWS.map(({ id, says, fix }) => [id, { says, fix }])),
} as Readonly<Record<MistakeId, MistakeText>>

/** A mistake that was found, and its detail. */
export interface FoundMistake {
  readonly id: MistakeId
  readonly detail: string
}

export const foundMistake = (id: MistakeId, detail = ''): FoundMistake => ({ id, detail })

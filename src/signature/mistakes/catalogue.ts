/** Every mistake there is a name for, and its words. */
import { BODIES } from './bodies.ts'
import { FORMS, RECEIVED } from './header-values.ts'
import { HASHES, KEYS } from './keys.ts'
import type { Words } from './mistake.ts'

const ROWS = [...FORMS, ...KEYS, ...BODIES, ...HASHES] as const

/** What `explain` found; `right` when nothing is wrong. */
export type MistakeId = keyof typeof RECEIVED | (typeof ROWS)[number]['id']

export const MISTAKES = {
  ...RECEIVED,
  ...Object.fromEntries(ROWS.map(({ id, says, fix }) => [id, { says, fix }])),
} as Readonly<Record<MistakeId, Words>>

/** A mistake that was made, and in which way. */
export interface Made {
  readonly id: MistakeId
  readonly detail: string
}

export const made = (id: MistakeId, detail = ''): Made => ({ id, detail })

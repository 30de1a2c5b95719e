/** Finds the patches of a bug or a design by its name. */
import { CONVERSATION_BUGS, type ConversationBugName } from './conversation-bugs.ts'
import { DESIGNS, type DesignName } from './designs.ts'
import type { Patch } from './patch.ts'
import { type BugName, PATCHES } from './patches.ts'

export type ChangeName = BugName | DesignName | ConversationBugName

/** What to change of the example; null for the example itself. */
export type Changes = ChangeName | readonly (ChangeName | Patch)[] | null

const ALL: Readonly<Record<string, Patch | readonly Patch[]>> = {
  ...PATCHES,
  ...DESIGNS,
  ...Object.fromEntries(Object.entries(CONVERSATION_BUGS).map(([name, { patches }]) => [name, patches])),
}

export const patchesOf = (changes: Changes): readonly Patch[] =>
  [changes ?? []].flat().flatMap(one => (typeof one === 'string' ? ALL[one]! : one))

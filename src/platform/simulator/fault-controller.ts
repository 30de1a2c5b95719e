/** Sets and clears faults: checks them against their simulator and journals the change. */

import { withoutUndefined } from '../../base/objects.ts'
import { nearest } from '../../base/text/error-text.ts'
import { effectOf } from '../faults/effects.ts'
import { FaultNameTakenError, type FaultRegistry, type NamedFault } from '../faults/registry.ts'
import type { FaultFields, FaultSpec } from '../faults/schema.ts'
import type { PlatformContext } from '../rules/state.ts'
import { sizeOfFault } from '../rules/state.ts'
import { signatureOffText } from '../wording/faults.ts'
import type { Components } from './components.ts'
import { InvalidOptionError, invalidOption, type SettingProblem, withinMemory } from './options.ts'

export interface FaultController {
  /** Throws `InvalidOptionError` with all problems of the fault. */
  add(fault: FaultSpec): NamedFault
  /** All faults in the order they were set, with their hits, also those that are used up. */
  list(): NamedFault[]
  /** Clears all faults or the named one, and releases the events they hold. Throws `InvalidOptionError` for an unknown name. */
  clear(name?: string): NamedFault[]
}

/** Sets and clears faults that `parseFault`, or another schema, has checked. */
export interface FaultSetter extends FaultController {
  add(fault: FaultFields): NamedFault
  /** The faults that were set after the entry `seq` of the journal, with their hits until then. */
  listAt(seq: number): NamedFault[]
  /** After a reset: all faults are cleared, and no moment before it can be asked for. */
  forget(): void
}

/** `release` sends the events that the named faults hold. */
export function createFaultController(
  { faultRegistry: faults, platform, journal }: Pick<Components, 'faultRegistry' | 'platform' | 'journal'>,
  release: (names: readonly string[]) => void,
): FaultSetter {
  /** The entries that set the faults; a fault of a restored snapshot has no entry. */
  const setSeqs = new Map<string, number>()
  const cleared: { readonly fault: NamedFault; readonly setSeq: number; readonly clearedSeq: number }[] = []
  function journalNote(note: string, { name, chat_id }: NamedFault, details: object): number {
    const chat = chat_id === undefined ? {} : { chat_id }
    return journal.append({ kind: 'note', ...chat, note, fault: name, ...details }, null).seq
  }

  return {
    forget() {
      setSeqs.clear()
      cleared.length = 0
    },
    add(spec) {
      const problems = findProblems(platform, spec)
      if (problems.length > 0) throw new InvalidOptionError(problems)
      const added = addWithinMemory(faults, platform, spec)
      const details = { on: added.on, effect: effectOf(added), of: added.of, ...furtherFields(added) }
      setSeqs.set(added.name, journalNote('fault_set', added, details))
      return added
    },
    list: () => faults.list(),
    clear(name) {
      const removed = faults.list().filter(fault => name === undefined || fault.name === name)
      if (name !== undefined && removed.length === 0) throw unknownName(faults, name)
      faults.clear(name)
      for (const fault of removed) {
        platform.state.memory.add(-sizeOfFault(fault))
        const clearedSeq = journalNote('fault_cleared', fault, { hits: fault.hits })
        cleared.push({ fault, setSeq: setSeqs.get(fault.name) ?? 0, clearedSeq })
      }
      while (cleared[0] !== undefined && cleared[0].clearedSeq < journal.firstSeq) cleared.shift()
      release(removed.map(fault => fault.name))
      return removed
    },
    listAt(seq) {
      const then = cleared.filter(({ setSeq, clearedSeq }) => setSeq <= seq && seq < clearedSeq)
      for (const fault of faults.list()) {
        const setSeq = setSeqs.get(fault.name) ?? 0
        if (setSeq <= seq) then.push({ fault, setSeq, clearedSeq: Number.POSITIVE_INFINITY })
      }
      const laterHits = journal.query({ kind: 'fault', after: seq })
      return then
        .sort((a, b) => a.setSeq - b.setSeq)
        .map(({ fault, clearedSeq }) => {
          const later = laterHits.filter(entry => entry.fault === fault.name && entry.seq < clearedSeq).length
          const hits = fault.hits - later
          return { ...fault, hits, used_up: fault.of !== null && hits >= fault.of, holding: 0 }
        })
    },
  }
}

/** With these, a reader of the journal can set the same fault again. Of an answer, `effect` has only the status. */
function furtherFields({ skip, every, while_new, respond }: NamedFault): object {
  const hasContent = respond?.headers !== undefined || respond?.body !== undefined
  return withoutUndefined({ skip, every, while_new, respond: hasContent ? respond : undefined })
}

function addWithinMemory(faults: FaultRegistry, { state }: PlatformContext, spec: FaultFields): NamedFault {
  let added: NamedFault | undefined
  try {
    added = faults.add(spec)
    const size = sizeOfFault(added)
    withinMemory(() => state.memory.add(size))
    return added
  } catch (error) {
    if (added !== undefined) faults.clear(added.name)
    if (!(error instanceof FaultNameTakenError)) throw error
    const message = `name ${JSON.stringify(error.message)} is taken: choose another one, or clear that fault first.`
    throw invalidOption('name', message)
  }
}

const LISTED = 5

/** What does not fit the simulator: a chat that does not exist, or a signature that is switched off. */
function findProblems({ state, knobs }: PlatformContext, { chat_id: id, sign }: FaultFields): SettingProblem[] {
  const problems: SettingProblem[] = []
  if (id !== undefined && !state.chats.has(id)) {
    const chatIds = [...state.chats.keys()]
    const latest = chatIds.slice(-LISTED).reverse().join(', ')
    const latestText = chatIds.length === 0 ? 'There are none yet.' : `The latest: ${latest}.`
    const message = `chat_id ${JSON.stringify(id)} is not a chat${nearest(id, chatIds) || '.'} ${latestText}`
    problems.push({ name: 'chat_id', message })
  }
  if (sign !== undefined && knobs['webhook.signature'] === 'off')
    problems.push({ name: 'sign', message: signatureOffText(sign) })
  return problems
}

function unknownName(faults: FaultRegistry, name: string): InvalidOptionError {
  const faultNames = faults.list().map(fault => fault.name)
  const there = faultNames.length === 0 ? 'none is set' : `there are ${faultNames.join(', ')}`
  return invalidOption('name', `There is no fault ${JSON.stringify(name)}: ${there}.`)
}

/** Lists the faults that are set, with their hits, and clears them. */

import { useMemo } from 'preact/hooks'
import { counted } from '../../../../base/text/quantities.ts'
import { effectOf } from '../../../../platform/faults/effects.ts'
import type { NamedFault } from '../../../../platform/faults/registry.ts'
import type { Entry } from '../../../../platform/journal/entry.ts'
import { effectText } from '../../../../platform/wording/faults.ts'
import { faultFormOf } from '../../model/fault-draft.ts'
import { countUntil } from '../../model/journal-log.ts'
import { showEntry } from '../address.ts'
import { OtherProblems } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { FaultForm } from './fault-form.tsx'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'

export function FaultsSection() {
  const moment = usePlatform()
  const { faults } = moment
  return (
    <PlatformSection name="faults" title="Faults" summary={faults.length === 0 ? 'none' : `${faults.length} set`}>
      <FaultList />
    </PlatformSection>
  )
}

function FaultList() {
  const { faults, isPast, description } = usePlatform()
  const [isAdding, setAdding] = useDraft('fault is added', false)
  const saving = useSaving()
  const form = useMemo(() => faultFormOf(description.fault, description.fault_effects), [description])
  const clear = (name: string | null) =>
    void saving.save(client => client.send('DELETE', name === null ? '/faults' : `/faults/${encodeURIComponent(name)}`))
  return (
    <>
      {faults.length === 0 ? (
        <p class="hint">A fault makes calls or events fail on purpose, to see how the intermediary copes.</p>
      ) : (
        <ul class="platform-faults">
          {faults.map(fault => (
            <li key={fault.name}>
              <FaultView fault={fault} />
              <button
                type="button"
                disabled={isPast || saving.isPending}
                aria-label={`Clear the fault ${fault.name}`}
                onClick={() => clear(fault.name)}
              >
                Clear
              </button>
            </li>
          ))}
        </ul>
      )}
      <OtherProblems issues={saving.issues} names={[]} />
      {isAdding && !isPast ? (
        <FaultForm form={form} onClose={() => setAdding(false)} />
      ) : (
        <div class="buttons">
          <button type="button" disabled={isPast} onClick={() => setAdding(true)}>
            Add a fault
          </button>
          {faults.length > 1 ? (
            <button type="button" disabled={isPast || saving.isPending} onClick={() => clear(null)}>
              Clear all
            </button>
          ) : null}
        </div>
      )}
    </>
  )
}

function FaultView({ fault }: { readonly fault: NamedFault }) {
  const { name, of, hits, used_up: isUsedUp } = fault
  return (
    <div class={isUsedUp ? 'platform-fault used-up' : 'platform-fault'}>
      <p>
        <b>{name}</b> {effectText(effectOf(fault))}
      </p>
      <p class="hint">
        {onText(fault)}
        {' · '}
        {of === null ? counted(hits, 'hit') : `${hits} of ${counted(of, 'hit')}`}
        {isUsedUp ? ', used up' : ''}
        {fault.holding > 0 ? `, holds ${counted(fault.holding, 'event')}` : ''}
      </p>
      <Hits fault={fault} />
    </div>
  )
}

function onText({ on, chat_id, skip = 0, every = 1 }: NamedFault): string {
  const names = typeof on === 'string' ? [] : [on.api ?? on.webhook ?? []].flat()
  const side = on === 'webhook' || (typeof on === 'object' && on.webhook !== undefined) ? 'events' : 'calls'
  return [
    names.length === 0 || names.includes('any') ? `all ${side}` : `${side}: ${names.join(', ')}`,
    ...(chat_id === undefined ? [] : [`of chat ${chat_id}`]),
    ...(skip === 0 ? [] : [`after ${skip}`]),
    ...(every === 1 ? [] : [`every ${every}.`]),
  ].join(' ')
}

/** So many of the latest hits are links. */
const LINKED = 5

function Hits({ fault }: { readonly fault: NamedFault }) {
  const session = useSession()
  const seqs = latestHits(session.log.value.entries, fault, session.view.at.value)
  if (seqs.length === 0) return null
  return (
    <p class="buttons">
      <span class="hint">At</span>
      {seqs.map(seq => (
        <button key={seq} type="button" class="link" onClick={() => showEntry(session.view, seq)}>
          #{seq}
        </button>
      ))}
    </p>
  )
}

/** An earlier fault with the same name has earlier hits, so that no more are taken than the fault has. */
function latestHits(entries: readonly Entry[], { name, hits }: NamedFault, at: number | null): readonly number[] {
  const seqs: number[] = []
  for (let index = (at === null ? entries.length : countUntil(entries, at)) - 1; index >= 0; index--) {
    if (seqs.length === Math.min(hits, LINKED)) break
    const entry = entries[index]
    if (entry?.kind === 'fault' && entry.fault === name) seqs.unshift(entry.seq)
  }
  return seqs
}

/** Sets a fault with one press or from JSON, lists the faults that are set with their hits, and clears them. */

import { counted } from '../../../../base/text/quantities.ts'
import { effectOf } from '../../../../platform/faults/effects.ts'
import type { NamedFault } from '../../../../platform/faults/registry.ts'
import type { FaultSpec } from '../../../../platform/faults/schema.ts'
import type { Entry } from '../../../../platform/journal/entry.ts'
import { effectText } from '../../../../platform/wording/faults.ts'
import { JsonEditor } from '../../components/json-editor.tsx'
import { countUntil } from '../../model/journal-log.ts'
import { parseJsonText } from '../../model/json-text.ts'
import { DialogButtons, EntryLink, OtherProblems } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'

export function FaultsSection() {
  const { faults, isPast } = usePlatform()
  const [isAdding, setAdding] = useDraft('fault is added', false)
  const saving = useSaving()
  const clear = (path: string) => void saving.send('DELETE', path)
  return (
    <PlatformSection name="faults" title="Faults" summary={faultsText(faults)}>
      {faults.length === 0 ? (
        <p class="hint">A fault makes calls or events fail on purpose, to see how your service copes.</p>
      ) : (
        <ul class="platform-faults">
          {faults.map(fault => (
            <li key={fault.name}>
              <FaultView fault={fault} />
              <button
                type="button"
                disabled={isPast || saving.isPending}
                aria-label={`Clear the fault ${fault.name}`}
                onClick={() => clear(`/faults/${encodeURIComponent(fault.name)}`)}
              >
                Clear
              </button>
            </li>
          ))}
        </ul>
      )}
      <OtherProblems issues={saving.issues} names={[]} />
      {isAdding && !isPast ? (
        <FaultForm onClose={() => setAdding(false)} />
      ) : (
        <div class="buttons">
          {FAULT_EXAMPLES.map(({ title, fault }) => (
            <button
              key={title}
              type="button"
              disabled={isPast || saving.isPending}
              onClick={() => void saving.send('POST', '/faults', fault)}
            >
              {title}
            </button>
          ))}
          <button type="button" class="quiet" disabled={isPast} onClick={() => setAdding(true)}>
            Custom fault
          </button>
          {faults.length > 1 ? (
            <button type="button" class="danger" disabled={isPast || saving.isPending} onClick={() => clear('/faults')}>
              Clear all
            </button>
          ) : null}
        </div>
      )}
    </PlatformSection>
  )
}

/** The faults that can still act. */
export const activeFaults = (faults: readonly NamedFault[]) => faults.filter(fault => !fault.used_up)

function faultsText(faults: readonly NamedFault[]): string {
  const active = activeFaults(faults).length
  const usedUp = faults.length - active
  return [...(active > 0 ? [`${active} set`] : []), ...(usedUp > 0 ? [`${usedUp} used up`] : [])].join(', ') || 'none'
}

/** Each is set with one press; its title says what it does. */
export const FAULT_EXAMPLES = [
  { title: 'Next start answers 503, twice', fault: { on: { api: 'start' }, respond: { status: 503 }, times: 2 } },
  { title: 'Next start loses its answer', fault: { on: { api: 'start' }, drop: 'after', times: 1 } },
  {
    title: 'Next message answers 429',
    fault: { on: { api: 'message' }, respond: { status: 429, headers: { 'Retry-After': '2' } }, times: 1 },
  },
  { title: 'Every call takes 2 s longer', fault: { on: 'api', latency: '2s' } },
  { title: 'Every event comes twice', fault: { on: 'webhook', duplicate: 2 } },
  { title: 'Next two messages change places', fault: { on: { webhook: 'MESSAGE FROM USER' }, swap: true, times: 1 } },
  { title: 'Next event has a wrong signature', fault: { on: 'webhook', sign: 'wrong-key', times: 1 } },
] as const satisfies readonly { readonly title: string; readonly fault: FaultSpec }[]

const FIRST_TEXT = JSON.stringify(FAULT_EXAMPLES[0].fault, null, 2)

function FaultForm({ onClose }: { onClose(): void }) {
  const [text, setText] = useDraft('fault', FIRST_TEXT)
  const saving = useSaving()
  const parsed = parseJsonText(text)
  const close = () => {
    setText(FIRST_TEXT)
    onClose()
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!parsed.isValid) return
    if (await saving.send('POST', '/faults', parsed.value)) close()
  }
  return (
    <form class="form" aria-label="New fault" onSubmit={submit}>
      <JsonEditor label="The fault as JSON" text={text} onChange={setText} />
      <OtherProblems issues={saving.issues} names={[]} />
      <DialogButtons act="Set the fault" isDisabled={saving.isPending || !parsed.isValid} onCancel={close} />
    </form>
  )
}

function FaultView({ fault }: { readonly fault: NamedFault }) {
  const { name, of, hits, used_up: isUsedUp } = fault
  return (
    <div class={isUsedUp ? 'platform-fault used-up' : 'platform-fault'}>
      <p>
        <b>{effectText(effectOf(fault))}</b>, {onText(fault)}
      </p>
      <p class="hint">
        {name}
        {' · '}
        {of === null ? counted(hits, 'hit') : `${hits} of ${counted(of, 'hit')}`}
        {isUsedUp ? ', used up' : ''}
        {fault.holding > 0 ? `, holds ${counted(fault.holding, 'event')}` : ''}
      </p>
      <Hits fault={fault} />
    </div>
  )
}

function onText({ on, chat_id, skip = 0, every = 1, while_new }: NamedFault): string {
  const names = typeof on === 'string' ? [] : [on.api ?? on.webhook ?? []].flat()
  const side = on === 'webhook' || (typeof on === 'object' && on.webhook !== undefined) ? 'events' : 'calls'
  return [
    names.length === 0 || names.includes('any') ? `all ${side}` : `${side}: ${names.join(', ')}`,
    ...(chat_id === undefined ? [] : [`of chat ${chat_id}`]),
    ...(while_new === undefined ? [] : [`of files newer than ${while_new}`]),
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
        <EntryLink key={seq} seq={seq} />
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

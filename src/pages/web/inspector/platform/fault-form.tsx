/** Makes a fault: what it applies to, its effects, and how often, from the JSON Schema of the description. */

import { useId } from 'preact/hooks'
import type { Side } from '../../../../platform/faults/sides.ts'
import {
  draftOfFault,
  EMPTY_FAULT,
  FAULT_EXAMPLES,
  type FaultDraft,
  type FaultFormFields,
  faultBody,
} from '../../model/fault-draft.ts'
import type { SchemaField } from '../../model/schema-fields.ts'
import { useDraft } from '../session-context.ts'
import { FieldIssue, OtherProblems, type Saving, useSaving } from './platform-section.tsx'
import { SchemaInput, SchemaInputs } from './schema-inputs.tsx'

export interface FaultFormProps {
  readonly form: FaultFormFields
  onClose(): void
}

export function FaultForm({ form, onClose }: FaultFormProps) {
  const [draft, setDraft] = useDraft<FaultDraft>('fault', EMPTY_FAULT)
  const close = () => {
    setDraft(EMPTY_FAULT)
    onClose()
  }
  const saving = useSaving()
  const body = faultBody(form, draft)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await saving.save(client => client.send('POST', '/faults', { body }))) close()
  }
  const shown = [...form.effects[draft.side], ...form.limits].map(({ name }) => name)
  return (
    <form class="platform-form fault-form" aria-label="New fault" onSubmit={submit} noValidate>
      <Examples onChoose={fault => setDraft(draftOfFault(form, fault))} />
      <AppliesTo form={form} draft={draft} saving={saving} onChange={setDraft} />
      <Effects form={form} draft={draft} saving={saving} onChange={setDraft} />
      <fieldset class="platform-fieldset fault-limits">
        <legend>Which of them</legend>
        <SchemaInputs
          fields={form.limits}
          draft={draft.limits}
          issues={saving.issues}
          onChange={limits => setDraft({ ...draft, limits })}
        />
      </fieldset>
      <OtherProblems issues={saving.issues} names={['on', ...shown]} />
      <details class="platform-details">
        <summary>The fault as JSON</summary>
        <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>
      </details>
      <div class="platform-buttons">
        <button type="submit" class="primary" disabled={saving.isPending}>
          Set the fault
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  )
}

type Example = (typeof FAULT_EXAMPLES)[number]

function Examples({ onChoose }: { onChoose(fault: Example['fault']): void }) {
  const id = useId()
  return (
    <div class="platform-field">
      <label for={id}>Begin with</label>
      <select
        id={id}
        onChange={({ currentTarget }) => {
          const example = FAULT_EXAMPLES[Number(currentTarget.value)]
          if (currentTarget.value !== '' && example !== undefined) onChoose(example.fault)
        }}
      >
        <option value="">an empty form</option>
        {FAULT_EXAMPLES.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}

interface PartProps {
  readonly form: FaultFormFields
  readonly draft: FaultDraft
  readonly saving: Saving
  onChange(draft: FaultDraft): void
}

const SIDES: Readonly<Record<Side, string>> = { api: 'Calls', webhook: 'Events' }

function AppliesTo({ form, draft, saving, onChange }: PartProps) {
  const id = useId()
  const toggle = (name: string) => {
    const names = form.names[draft.side].filter(one => (one === name) !== draft.names.includes(one))
    onChange({ ...draft, names })
  }
  return (
    <fieldset class="platform-fieldset">
      <legend>Applies to</legend>
      <div class="platform-buttons">
        {(['api', 'webhook'] as const).map(side => (
          <label key={side} class="platform-check">
            <input
              type="radio"
              name={`${id}side`}
              checked={draft.side === side}
              onChange={() => onChange({ ...draft, side, names: [], effects: {} })}
            />
            {SIDES[side]}
          </label>
        ))}
        <span class="hint">
          {draft.names.length === 0 ? `all ${SIDES[draft.side].toLowerCase()}, or only:` : 'only:'}
        </span>
      </div>
      <div class="knob-choices">
        {form.names[draft.side].map(name => (
          <label key={name}>
            <input type="checkbox" checked={draft.names.includes(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
      </div>
      <FieldIssue id={`${id}problem`} issues={saving.issues} name="on" />
    </fieldset>
  )
}

function Effects({ form, draft, saving, onChange }: PartProps) {
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...others } = draft.effects
    return onChange({ ...draft, effects: value === undefined ? others : { ...others, [name]: value } })
  }
  return (
    <fieldset class="platform-fieldset">
      <legend>What happens</legend>
      {form.effects[draft.side].map(field => (
        <Effect
          key={field.name}
          field={field}
          draft={draft}
          saving={saving}
          onChange={value => set(field.name, value)}
        />
      ))}
    </fieldset>
  )
}

interface EffectProps extends Pick<PartProps, 'draft' | 'saving'> {
  readonly field: SchemaField
  onChange(value: unknown): void
}

/** Chosen by its checkbox; then its input appears. */
function Effect({ field, draft, saving, onChange }: EffectProps) {
  const id = useId()
  const value = draft.effects[field.name]
  const isChosen = Object.hasOwn(draft.effects, field.name)
  return (
    <div class="fault-effect">
      <label class="platform-check">
        <input
          type="checkbox"
          checked={isChosen}
          aria-describedby={`${id}about`}
          onChange={({ currentTarget }) => onChange(currentTarget.checked ? firstValue(field) : undefined)}
        />
        <code>{field.name}</code>
      </label>
      <small id={`${id}about`} class="hint">
        {field.description}
      </small>
      {isChosen ? (
        <SchemaInput
          field={field}
          value={value}
          issues={saving.issues}
          path={field.name}
          isNamed
          onChange={next => onChange(next ?? '')}
        />
      ) : null}
      {isChosen && field.kind !== 'flag' ? null : (
        <FieldIssue id={`${id}problem`} issues={saving.issues} name={field.name} />
      )}
    </div>
  )
}

/** A value that the server takes, where the schema has one. */
function firstValue({ kind, values, example, minimum, fields }: SchemaField): unknown {
  if (kind === 'flag') return true
  if (kind === 'object')
    return Object.fromEntries(fields.filter(isRequired).map(field => [field.name, firstValue(field)]))
  if (kind === 'choices') return values.slice(0, 1)
  if (kind === 'choice') return values[0] ?? ''
  return kind === 'count' ? String(minimum ?? 1) : (example ?? '')
}

const isRequired = (field: SchemaField): boolean => field.isRequired

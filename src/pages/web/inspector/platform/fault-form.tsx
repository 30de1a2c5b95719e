/** Makes a fault: what it applies to, its effects, and how often, from the JSON Schema of the description. */
import { useId } from 'preact/hooks'
import { isMap } from '../../../../base/objects.ts'
import type { Side } from '../../../../platform/faults/sides.ts'
import type { ControlIssue } from '../../client/control.ts'
import {
  draftOfFault,
  EMPTY_FAULT,
  FAULT_EXAMPLES,
  type FaultDraft,
  type FaultFormFields,
  faultBody,
} from '../../model/fault-draft.ts'
import type { Draft, SchemaField } from '../../model/schema-fields.ts'
import {
  ChoiceField,
  FieldProblem,
  OtherProblems,
  problemOf,
  type Submission,
  SwitchField,
  SwitchList,
  TextField,
} from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { useSaving } from './platform-section.tsx'

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
    <form class="form fault-form" aria-label="New fault" onSubmit={submit} noValidate>
      <ChoiceField
        label="Begin with"
        options={[['', 'an empty form'], ...FAULT_EXAMPLES.map(({ title }, index) => [String(index), title] as const)]}
        onChange={index => {
          const example = FAULT_EXAMPLES[Number(index)]
          if (index !== '' && example !== undefined) setDraft(draftOfFault(form, example.fault))
        }}
      />
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
      <details class="fold">
        <summary>The fault as JSON</summary>
        <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>
      </details>
      <div class="buttons">
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

interface PartProps {
  readonly form: FaultFormFields
  readonly draft: FaultDraft
  readonly saving: Submission
  onChange(draft: FaultDraft): void
}

const SIDES: Readonly<Record<Side, string>> = { api: 'Calls', webhook: 'Events' }

function AppliesTo({ form, draft, saving, onChange }: PartProps) {
  const group = useId()
  return (
    <fieldset class="platform-fieldset">
      <legend>Applies to</legend>
      <div class="buttons">
        {(['api', 'webhook'] as const).map(side => (
          <SwitchField
            key={side}
            group={group}
            isOn={draft.side === side}
            onChange={() => onChange({ ...draft, side, names: [], effects: {} })}
          >
            {SIDES[side]}
          </SwitchField>
        ))}
        <span class="hint">
          {draft.names.length === 0 ? `all ${SIDES[draft.side].toLowerCase()}, or only:` : 'only:'}
        </span>
      </div>
      <SwitchList
        label={SIDES[draft.side]}
        values={form.names[draft.side]}
        chosen={draft.names}
        onChange={names => onChange({ ...draft, names })}
      />
      <FieldProblem text={problemOf(saving.issues, 'on')} />
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
    <div class="stack tight fault-effect">
      <SwitchField
        isOn={isChosen}
        describedBy={`${id}about`}
        onChange={isOn => onChange(isOn ? firstValue(field) : undefined)}
      >
        <code>{field.name}</code>
      </SwitchField>
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
      {isChosen && field.kind !== 'flag' ? null : <FieldProblem text={problemOf(saving.issues, field.name)} />}
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

interface SchemaInputsProps {
  readonly fields: readonly SchemaField[]
  readonly draft: Draft
  readonly issues: readonly ControlIssue[]
  /** Before the names of fields in problems: `respond.`. */
  readonly path?: string
  onChange(draft: Draft): void
}

function SchemaInputs({ fields, draft, issues, path = '', onChange }: SchemaInputsProps) {
  return (
    <>
      {fields.map(field => (
        <SchemaInput
          key={field.name}
          field={field}
          value={draft[field.name]}
          issues={issues}
          path={path + field.name}
          onChange={value => onChange({ ...draft, [field.name]: value })}
        />
      ))}
    </>
  )
}

interface SchemaInputProps {
  readonly field: SchemaField
  readonly value: unknown
  readonly issues: readonly ControlIssue[]
  /** The name of the field in problems. */
  readonly path: string
  /** Whether its name is shown already, beside it. */
  readonly isNamed?: boolean
  onChange(value: unknown): void
}

/** A flag has no input of its own: it is set by being chosen. */
function SchemaInput({ field, value, issues, path, isNamed = false, onChange }: SchemaInputProps) {
  const { name, kind, values, example, minimum, maximum } = field
  if (kind === 'flag') return null
  if (kind === 'object')
    return (
      <div class="stack">
        <SchemaInputs
          fields={field.fields}
          draft={isMap(value) ? value : {}}
          issues={issues}
          path={`${path}.`}
          onChange={onChange}
        />
      </div>
    )
  const label = name + (field.isRequired ? ' (required)' : '')
  const problem = problemOf(issues, path)
  const hint = isNamed ? '' : field.description
  if (kind === 'choices')
    return (
      <div class="field">
        {isNamed ? null : <span aria-hidden="true">{label}</span>}
        <SwitchList label={name} values={values} chosen={Array.isArray(value) ? value : []} onChange={onChange} />
        <FieldProblem text={problem} />
        {hint === '' ? null : <small class="hint">{hint}</small>}
      </div>
    )
  const shared = {
    label,
    labelPlace: isNamed ? 'hidden' : 'above',
    hint,
    problem,
    value: typeof value === 'string' ? value : '',
  } as const
  if (kind === 'choice')
    return (
      <ChoiceField
        {...shared}
        options={[['', 'choose'], ...values.map(word => [word, word] as const)]}
        onChange={word => onChange(word === '' ? undefined : word)}
      />
    )
  if (kind === 'headers' || kind === 'json')
    return (
      <TextField
        {...shared}
        rows={2}
        spellcheck={false}
        placeholder={kind === 'headers' ? 'Retry-After: 2' : '{ "error": "..." }'}
        onChange={onChange}
      />
    )
  const range = minimum === null ? '' : maximum === null ? `from ${minimum}` : `${minimum} to ${maximum}`
  return (
    <TextField
      {...shared}
      class="short"
      spellcheck={false}
      inputMode={kind === 'count' ? 'numeric' : 'text'}
      placeholder={example ?? range}
      onChange={onChange}
    />
  )
}

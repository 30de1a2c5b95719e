/** Draws the inputs of a form that a JSON Schema describes. */
import { useId } from 'preact/hooks'
import { isMap } from '../../../../base/objects.ts'
import type { ControlIssue } from '../../client/control.ts'
import type { Draft, SchemaField } from '../../model/schema-fields.ts'
import { FieldIssue } from './platform-section.tsx'

export interface SchemaInputsProps {
  readonly fields: readonly SchemaField[]
  readonly draft: Draft
  readonly issues: readonly ControlIssue[]
  /** Before the names of fields in problems: `respond.`. */
  readonly path?: string
  onChange(draft: Draft): void
}

export function SchemaInputs({ fields, draft, issues, path = '', onChange }: SchemaInputsProps) {
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

export interface SchemaInputProps {
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
export function SchemaInput(props: SchemaInputProps) {
  const { field, path, issues, isNamed } = props
  const id = useId()
  if (field.kind === 'flag') return null
  if (field.kind === 'object') return <ObjectInput {...props} />
  return (
    <div class="platform-field">
      {field.kind === 'choices' ? (
        isNamed ? null : (
          <span aria-hidden="true">{labelOf(field)}</span>
        )
      ) : (
        <label for={id} class={isNamed ? 'visually-hidden' : ''}>
          {labelOf(field)}
        </label>
      )}
      <Input {...props} id={id} describedBy={`${id}about ${id}problem`} />
      <FieldIssue id={`${id}problem`} issues={issues} name={path} />
      {isNamed || field.description === '' ? null : (
        <small id={`${id}about`} class="hint">
          {field.description}
        </small>
      )}
    </div>
  )
}

const labelOf = ({ name, isRequired }: SchemaField) => name + (isRequired ? ' (required)' : '')

function ObjectInput({ field, value, issues, path, onChange }: SchemaInputProps) {
  return (
    <div class="platform-nested">
      <SchemaInputs
        fields={field.fields}
        draft={isMap(value) ? value : {}}
        issues={issues}
        path={`${path}.`}
        onChange={onChange}
      />
    </div>
  )
}

interface InputProps extends SchemaInputProps {
  readonly id: string
  readonly describedBy: string
}

function Input(props: InputProps) {
  const { field, value, id, describedBy, onChange } = props
  if (field.kind === 'choice') return <ChoiceInput {...props} />
  if (field.kind === 'choices') return <ChoicesInput {...props} />
  const shared = {
    id,
    value: typeof value === 'string' ? value : '',
    'aria-describedby': describedBy,
    spellcheck: false,
    autocomplete: 'off',
  }
  if (field.kind === 'headers' || field.kind === 'json')
    return (
      <textarea
        {...shared}
        rows={2}
        placeholder={field.kind === 'headers' ? 'Retry-After: 2' : '{ "error": "..." }'}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  return (
    <input
      {...shared}
      class="platform-short"
      inputMode={field.kind === 'count' ? 'numeric' : undefined}
      placeholder={placeholderOf(field)}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

function placeholderOf({ example, minimum, maximum }: SchemaField): string {
  if (example !== null) return example
  return minimum === null ? '' : maximum === null ? `from ${minimum}` : `${minimum} to ${maximum}`
}

function ChoiceInput({ field, value, id, describedBy, onChange }: InputProps) {
  return (
    <select
      id={id}
      value={typeof value === 'string' ? value : ''}
      aria-describedby={describedBy}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    >
      <option value="">choose</option>
      {field.values.map(word => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  )
}

function ChoicesInput({ field, value, id, describedBy, onChange }: InputProps) {
  const chosen = Array.isArray(value) ? value : []
  return (
    <fieldset id={id} class="knob-choices" aria-describedby={describedBy}>
      <legend class="visually-hidden">{field.name}</legend>
      {field.values.map(word => (
        <label key={word}>
          <input
            type="checkbox"
            checked={chosen.includes(word)}
            onChange={() => onChange(field.values.filter(one => (one === word) !== chosen.includes(one)))}
          />
          {word}
        </label>
      ))}
    </fieldset>
  )
}

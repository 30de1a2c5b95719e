/** Draws the inputs of a form that a JSON Schema describes. */

import { isMap } from '../../../../base/objects.ts'
import type { ControlIssue } from '../../client/control.ts'
import type { Draft, SchemaField } from '../../model/schema-fields.ts'
import { ChoiceField, FieldProblem, problemOf, SwitchList, TextField } from '../fields.tsx'

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
export function SchemaInput({ field, value, issues, path, isNamed = false, onChange }: SchemaInputProps) {
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

/** Parts of forms: a field with its label and its problem, and the buttons below. */
import './form-field.css'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import { ControlError } from '../client/control.ts'

/** Why the server refused a form. */
export interface FormProblems {
  readonly message: string
  /** By the first part of the field: `user` for `user.first_name`. */
  readonly fields: ReadonlyMap<string, string>
}

export function formProblemsOf(error: unknown): FormProblems {
  const issues = error instanceof ControlError ? error.issues : []
  return {
    message: messageOf(error),
    fields: new Map(issues.map(({ field, message }) => [field.split(/[.[]/)[0] ?? '', message])),
  }
}

export interface FieldProps {
  readonly label: string
  readonly problem: string | undefined
  readonly isWide?: boolean
  children(id: string): ComponentChildren
}

export function Field({ label, problem, isWide = false, children }: FieldProps) {
  const id = useId()
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {children(id)}
      <FieldMessage text={problem} />
    </div>
  )
}

export function FieldMessage({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p class="form-problem" role="alert">
      {text}
    </p>
  )
}

export interface FormActsProps {
  readonly problems: FormProblems | null
  /** What the form does: `Start chat`. */
  readonly act: string
  onCancel(): void
}

/** Problems that name a field are shown there, and not again. */
export function FormActs({ problems, act, onCancel }: FormActsProps) {
  return (
    <>
      <FieldMessage text={problems === null || problems.fields.size > 0 ? undefined : problems.message} />
      <div class="form-acts">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary">
          {act}
        </button>
      </div>
    </>
  )
}

/** Draws the fields of all forms: a label, an input, and what the server says about its value. */
import './fields.css'
import type { ComponentChildren, ComponentProps } from 'preact'
import { useId, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import { type ControlClient, ControlError, type ControlIssue } from '../client/control.ts'
import { showEntry } from './address.ts'
import { useSession } from './session-context.ts'

export interface Submission {
  readonly issues: readonly ControlIssue[]
  readonly isPending: boolean
  /** Returns whether it succeeded. What fails is shown by the fields that it names, and by `OtherProblems`. */
  save(run: (client: ControlClient) => Promise<unknown>): Promise<boolean>
  /** Sends one request of the control API. */
  send(method: string, path: string, body?: unknown): Promise<boolean>
}

/** Sends a form, and keeps the problems until the next time. */
export function useSubmission(onSuccess?: () => void): Submission {
  const { client } = useSession()
  const [issues, setIssues] = useState<readonly ControlIssue[]>([])
  const [isPending, setPending] = useState(false)
  async function save(run: (client: ControlClient) => Promise<unknown>): Promise<boolean> {
    setPending(true)
    let problems: readonly ControlIssue[] = []
    try {
      await run(client)
    } catch (error) {
      const isRefused = error instanceof ControlError && error.issues.length > 0
      const message = error instanceof TypeError ? 'The server does not answer.' : messageOf(error)
      problems = isRefused ? error.issues : [{ field: '', message }]
    }
    setPending(false)
    setIssues(problems)
    if (problems.length === 0) onSuccess?.()
    return problems.length === 0
  }
  const send = (method: string, path: string, body?: unknown) => save(() => client.send(method, path, { body }))
  return { issues, isPending, save, send }
}

const isAbout = (field: string, name: string) =>
  field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)

/** What the server says about a field; null when it says nothing. */
export function problemOf(issues: readonly ControlIssue[], name: string): string | null {
  return formatIssues(issues.filter(({ field }) => isAbout(field, name)))
}

/** The problems that are about none of the named fields. */
export function OtherProblems({ issues, names }: { issues: readonly ControlIssue[]; names: readonly string[] }) {
  return <FieldMessage text={formatIssues(issues.filter(({ field }) => !names.some(name => isAbout(field, name))))} />
}

function formatIssues(issues: readonly ControlIssue[]): string | null {
  const lines: string[] = []
  for (const { message, allowed } of issues) {
    const isListed = Array.isArray(allowed) && allowed.length > 0 && allowed.length <= 12
    lines.push(isListed ? `${message} Allowed: ${allowed.join(', ')}.` : message)
  }
  return lines.length === 0 ? null : lines.join('\n')
}

export function FieldMessage({ id, text }: { readonly id?: string; readonly text: string | null }) {
  if (text === null) return null
  return (
    <p id={id} class="refusal" role="alert">
      {text}
    </p>
  )
}

interface FieldProps {
  readonly label: string
  /** Above the input, or before it on the same line. */
  readonly labelPlace?: 'above' | 'before'
  /** What is wrong with the value; null when nothing is. */
  readonly problem?: string | null
  /** Whether it takes all columns of its form. */
  readonly isWide?: boolean
  /** With which a form that is read when it is sent begins. */
  readonly initial?: string
}

interface InputProps {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface LabelledProps extends Omit<FieldProps, 'initial'> {
  input(props: InputProps): ComponentChildren
}

function Labelled({ label, labelPlace = 'above', problem = null, isWide, input }: LabelledProps) {
  const id = useId()
  return (
    <div class={`field label-${labelPlace}${isWide ? ' wide' : ''}`}>
      <label for={id}>{label}</label>
      {input({ id, 'aria-invalid': problem !== null, 'aria-describedby': `${id}problem` })}
      <FieldMessage id={`${id}problem`} text={problem} />
    </div>
  )
}

type TextAttributes = 'name' | 'placeholder' | 'inputMode' | 'dir' | 'required' | 'spellcheck' | 'size' | 'class'

export interface TextFieldProps extends FieldProps, Pick<ComponentProps<'input'>, TextAttributes> {
  /** Left out in a form that is read when it is sent. */
  readonly value?: string
  /** With more than one line. */
  readonly rows?: number
  readonly suggestions?: readonly string[]
  onChange?(value: string): void
}

export function TextField({ rows, suggestions, initial, onChange, ...field }: TextFieldProps) {
  const { label, labelPlace, problem, isWide, ...attributes } = field
  const list = useId()
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange?.(currentTarget.value)
  const shared: object = { ...attributes, onInput, ...(initial !== undefined && { defaultValue: initial }) }
  return (
    <Labelled
      {...field}
      input={props => (
        <>
          {rows === undefined ? (
            <input autocomplete="off" list={suggestions && list} {...shared} {...props} />
          ) : (
            <textarea rows={rows} {...shared} {...props} />
          )}
          {suggestions === undefined ? null : (
            <datalist id={list}>
              {suggestions.map(value => (
                <option key={value} value={value} />
              ))}
            </datalist>
          )}
        </>
      )}
    />
  )
}

export interface ChoiceFieldProps extends FieldProps {
  /** Left out in a form that is read when it is sent. */
  readonly value?: string
  readonly name?: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange?(value: string): void
}

export function ChoiceField({ value, name, options, initial, onChange, ...field }: ChoiceFieldProps) {
  return (
    <Labelled
      {...field}
      input={props => (
        <select {...props} name={name} value={value} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option} selected={option === initial}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  )
}

export interface SwitchFieldProps {
  readonly isOn: boolean
  /** One of several of which one is on: the name that they share. */
  readonly group?: string
  readonly title?: string | undefined
  readonly children: ComponentChildren
  onChange(isOn: boolean): void
}

export function SwitchField({ isOn, group, title, children, onChange }: SwitchFieldProps) {
  return (
    <label class="switch" title={title}>
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {children}
    </label>
  )
}

export interface EntryLinkProps {
  readonly seq: number
  readonly children?: ComponentChildren
}

/** Selects an entry in the wire. */
export function EntryLink({ seq, children }: EntryLinkProps) {
  const { view } = useSession()
  return (
    <button type="button" class="link" onClick={() => showEntry(view, seq)}>
      {children}#{seq}
    </button>
  )
}

export interface DialogButtonsProps {
  /** What the form does: `Start chat`. */
  readonly act: string
  readonly isDisabled?: boolean
  /** Whether it removes something. */
  readonly isDestructive?: boolean
  onCancel(): void
}

export function DialogButtons({ act, isDisabled = false, isDestructive = false, onCancel }: DialogButtonsProps) {
  return (
    <div class="buttons wide at-end">
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" class={isDestructive ? 'danger' : 'primary'} disabled={isDisabled}>
        {act}
      </button>
    </div>
  )
}

/** The control of one knob, by its type: a choice, a list, or a text that is set with a button. */

import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DescriptionAnswer } from '../../../../server/control/routes/description.ts'
import { SwitchList } from '../fields.tsx'
import { useDraft } from '../session-context.ts'

export type KnobDescription = DescriptionAnswer['knobs'][number]

export interface KnobControlProps {
  readonly knob: KnobDescription
  readonly value: unknown
  readonly id: string
  readonly isDisabled: boolean
  readonly isWrong: boolean
  /** What the control is described by: its assumption and its problem. */
  readonly describedBy: string
  /** Resolves to whether the value was taken. */
  onSet(value: unknown): Promise<boolean>
}

export function KnobControl(props: KnobControlProps) {
  const { type, values } = props.knob
  if (type === 'choice') return <Choice {...props} />
  if (type === 'list') return values === undefined ? <ListEditor {...props} /> : <Choices {...props} />
  return <TextControl {...props} />
}

const OFF = 'off'

function Choice({ knob: { values = [] }, value, id, isDisabled, describedBy, onSet }: KnobControlProps) {
  const known = values.includes(String(value)) ? values : [String(value), ...values]
  return (
    <select
      id={id}
      value={String(value)}
      disabled={isDisabled}
      aria-describedby={describedBy}
      onChange={({ currentTarget }) => void onSet(currentTarget.value)}
    >
      {known.map(word => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  )
}

const itemsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

function Choices({ knob: { name, values = [] }, value, id, isDisabled, describedBy, onSet }: KnobControlProps) {
  const items = itemsOf(value)
  return (
    <SwitchList
      id={id}
      label={name}
      values={values}
      chosen={items}
      isDisabled={isDisabled}
      describedBy={describedBy}
      onChange={chosen => void onSet(chosen.length === 0 ? OFF : chosen)}
    />
  )
}

/** Follows the value until the user types; then `Set` or Enter sets it, and Escape gives it up. */
function TextControl({ knob, value, id, isDisabled, isWrong, describedBy, onSet }: KnobControlProps) {
  const shown = isMasked(value) ? '' : String(value)
  const [typed, setTyped] = useDraft<string | null>('knob', null, knob.name)
  const isChanged = typed !== null && typed !== shown
  const set = async (event: Event) => {
    event.preventDefault()
    if (isChanged && (await onSet(typed))) setTyped(null)
  }
  return (
    <form class="platform-joined" onSubmit={set} noValidate>
      <input
        id={id}
        value={typed ?? shown}
        inputMode={knob.type === 'count' ? 'numeric' : undefined}
        placeholder={isMasked(value) ? 'masked: see Keys' : PLACEHOLDERS[knob.type]}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={({ key }) => (key === 'Escape' ? setTyped(null) : undefined)}
      />
      {knob.can_be_off === true && !isChanged && value !== OFF ? (
        <button
          type="button"
          disabled={isDisabled}
          aria-label={`Turn ${knob.name} off`}
          onClick={() => void onSet(OFF)}
        >
          Off
        </button>
      ) : null}
      {isChanged ? (
        <button type="submit" class="primary" disabled={isDisabled} aria-label={`Set ${knob.name}`}>
          Set
        </button>
      ) : null}
    </form>
  )
}

/** The server shows keys as this. */
const isMasked = (value: unknown) => value === '***'

const PLACEHOLDERS: Readonly<Record<string, string>> = { duration: '5s', count: '1', text: '' }

/** One input for each item; an empty one is left out. */
function ListEditor({ knob: { name }, value, id, isDisabled, isWrong, describedBy, onSet }: KnobControlProps) {
  const current = itemsOf(value)
  const [typed, setTyped] = useDraft<readonly string[] | null>('knob list', null, name)
  const items = typed ?? current
  const added = useRef<HTMLInputElement>(null)
  const shown = useRef(items.length)
  useLayoutEffect(() => {
    if (items.length > shown.current && typed !== null) added.current?.focus()
    shown.current = items.length
  }, [items.length])
  const set = async (event: Event) => {
    event.preventDefault()
    const filled = items.filter(item => item.trim() !== '')
    if (await onSet(filled.length === 0 ? OFF : filled)) setTyped(null)
  }
  return (
    <form id={id} class={items.length === 0 ? 'stack tight knob-list empty-list' : 'knob-list'} onSubmit={set}>
      {items.length === 0 ? <span class="hint">off</span> : null}
      {items.map((item, index) => (
        <span key={index} class="platform-joined">
          <input
            ref={index === items.length - 1 ? added : null}
            aria-label={`${name}, item ${index + 1}`}
            value={item}
            disabled={isDisabled}
            aria-invalid={isWrong}
            aria-describedby={describedBy}
            onInput={({ currentTarget }) => setTyped(items.with(index, currentTarget.value))}
          />
          <button
            type="button"
            class="quiet"
            disabled={isDisabled}
            aria-label={`Remove item ${index + 1} of ${name}`}
            onClick={() => setTyped(items.toSpliced(index, 1))}
          >
            ✕
          </button>
        </span>
      ))}
      <span class="buttons">
        <button
          type="button"
          disabled={isDisabled}
          aria-label={`Add an item to ${name}`}
          onClick={() => setTyped([...items, ''])}
        >
          Add
        </button>
        {typed === null ? null : (
          <>
            <button type="submit" class="primary" disabled={isDisabled} aria-label={`Set ${name}`}>
              Set
            </button>
            <button type="button" class="quiet" onClick={() => setTyped(null)}>
              Cancel
            </button>
          </>
        )}
      </span>
    </form>
  )
}

/** Lists the knobs with the assumption each one stands for: searched, set by their type, and set back to the default. */
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { DescriptionAnswer } from '../../../../server/control/routes/description.ts'
import { FieldProblem, OtherProblems, problemOf, SwitchField, SwitchList } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { PlatformSection, patchConfig, usePlatform, useSaving } from './platform-section.tsx'
import type { PlatformMoment } from './platform-store.ts'

const SECTION = 'knobs'

const isChanged = (knob: KnobDescription, value: unknown): boolean =>
  value === '***' ? knob.changed : JSON.stringify(value) !== JSON.stringify(knob.default)

export function KnobsSection() {
  const session = useSession()
  const moment = usePlatform()
  const { description, config } = moment
  const { knob, sections } = session.view
  const changed = description.knobs.filter(one => isChanged(one, config[one.name]))
  useEffect(() => {
    if (knob.value !== null && !sections.value.includes(SECTION)) sections.value = [...sections.value, SECTION]
  }, [knob.value])
  return (
    <PlatformSection
      name={SECTION}
      title="Knobs"
      summary={changed.length === 0 ? 'defaults' : `${changed.length} changed`}
    >
      <KnobList />
    </PlatformSection>
  )
}

function KnobList() {
  const session = useSession()
  const moment = usePlatform()
  const [search, setSearch] = useDraft('knob search', '')
  const [isOnlyChanged, setOnlyChanged] = useDraft('changed knobs', false)
  const id = useId()
  const { knob: linked } = session.view
  const shown = moment.description.knobs.filter(
    knob =>
      knob.name === linked.value ||
      (matches(moment, knob, search) && (!isOnlyChanged || isChanged(knob, moment.config[knob.name]))),
  )
  return (
    <>
      <p class="hint">Each knob changes one behaviour that the platform leaves open.</p>
      <div class="knob-search">
        <label class="visually-hidden" for={id}>
          Search knobs
        </label>
        <input
          id={id}
          type="search"
          placeholder="Search knobs"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <SwitchField isOn={isOnlyChanged} onChange={setOnlyChanged}>
          Changed only
        </SwitchField>
      </div>
      <p class="visually-hidden" role="status">
        {search === '' ? '' : `${shown.length} knobs`}
      </p>
      {shown.length === 0 ? <p class="hint">No knob matches.</p> : null}
      <KnobGroups knobs={shown} />
    </>
  )
}

export interface KnobGroupsProps {
  readonly knobs: readonly KnobDescription[]
  /** Whether another section shows them as well; a link leads to the list of all knobs. */
  readonly isCopy?: boolean
}

/** Knobs of one assumption stand below its sentence. */
export function KnobGroups({ knobs, isCopy = false }: KnobGroupsProps) {
  const groups = Map.groupBy(knobs, ({ assumption }) => assumption)
  return (
    <ul class="knob-groups">
      {[...groups].map(([assumption, members]) => (
        <li key={assumption} class="knob-group">
          <AssumptionText name={assumption} />
          {members.map(knob => (
            <KnobRow key={knob.name} knob={knob} isCopy={isCopy} />
          ))}
        </li>
      ))}
    </ul>
  )
}

function AssumptionText({ name }: { readonly name: string }) {
  const moment = usePlatform()
  const assumption = moment.description.assumptions.find(one => one.name === name)
  if (assumption === undefined) return null
  return (
    <p class="hint">
      <b class="knob-rule">{assumption.rule}</b> {assumption.open} Default: {assumption.behaviour}
    </p>
  )
}

/** Every word is somewhere in the name, the value, or the assumption with its rule. */
function matches({ description, config }: PlatformMoment, knob: KnobDescription, search: string): boolean {
  const assumption = description.assumptions.find(({ name }) => name === knob.assumption)
  const { rule = '', open = '', behaviour = '' } = assumption ?? {}
  const text = [knob.name, JSON.stringify(config[knob.name]), rule, open, behaviour].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word))
}

interface KnobRowProps {
  readonly knob: KnobDescription
  readonly isCopy: boolean
}

function KnobRow({ knob, isCopy }: KnobRowProps) {
  const session = useSession()
  const moment = usePlatform()
  const saving = useSaving()
  const id = useId()
  const row = useRef<HTMLDivElement>(null)
  const { view } = session
  const isLinked = !isCopy && view.knob.value === knob.name
  useEffect(() => {
    if (isLinked) {
      // Scrolls the column to the knob, and focuses its control.
      row.current?.scrollIntoView({ block: 'center' })
      const control = document.getElementById(id)
      const focused = control?.matches('input, select') ? control : control?.querySelector<HTMLElement>('input, button')
      focused?.focus({ preventScroll: true })
    }
  }, [isLinked, id])
  const value = moment.config[knob.name]
  const isDisabled = moment.isPast || saving.isPending
  const set = (next: unknown) => saving.save(patchConfig({ [knob.name]: next }))
  return (
    <div
      ref={row}
      class={['knob', `knob-${knob.type}`, isLinked ? 'linked' : '', isChanged(knob, value) ? 'changed' : ''].join(' ')}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        // A link to the same knob works again after the focus has moved elsewhere.
        if (isLinked && relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) view.knob.value = null
      }}
    >
      <KnobName knob={knob} id={id} />
      <KnobControl
        knob={knob}
        value={value}
        id={id}
        isDisabled={isDisabled}
        isWrong={saving.issues.length > 0}
        describedBy={`${id}about ${id}problem`}
        onSet={set}
      />
      <FieldProblem id={`${id}problem`} text={problemOf(saving.issues, knob.name)} />
      <OtherProblems issues={saving.issues} names={[knob.name]} />
      <p id={`${id}about`} class="hint knob-about">
        {knob.type === 'choice' ? null : <span>{knob.allowed} </span>}
        {isChanged(knob, value) ? (
          <button type="button" class="link" disabled={isDisabled} onClick={() => void set(knob.default)}>
            Reset to{' '}
            {Array.isArray(knob.default)
              ? knob.default.join(', ')
              : knob.default === ''
                ? 'empty'
                : String(knob.default)}
          </button>
        ) : null}
      </p>
    </div>
  )
}

/** A list has an input for each item, so its name is no label of one. */
function KnobName({ knob: { name, type }, id }: { readonly knob: KnobDescription; readonly id: string }) {
  const code = <code>{name}</code>
  return (
    <span class="knob-name">
      {type === 'list' ? code : <label for={id}>{code}</label>}
      <span class="knob-changed">changed</span>
    </span>
  )
}

type KnobDescription = DescriptionAnswer['knobs'][number]

interface KnobControlProps {
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

function KnobControl(props: KnobControlProps) {
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
    <form id={id} class={items.length === 0 ? 'knob-list empty-list' : 'stack tight knob-list'} onSubmit={set}>
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

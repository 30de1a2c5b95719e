/** Finds knobs, sets one as text, and sets it back: those that a search finds, or else those that are changed. */
import { useEffect, useId, useRef } from 'preact/hooks'
import type { DescriptionResponse } from '../../../../server/control/routes/description.ts'
import { showKnob } from '../address.ts'
import { FieldMessage, OtherProblems, problemOf } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'
import type { PlatformMoment } from './platform-store.ts'

type Knob = DescriptionResponse['knobs'][number]
type Assumption = DescriptionResponse['assumptions'][number]

const SECTION = 'knobs'
const OFF = 'off'
/** The server shows keys as this. */
const MASKED = '***'

const isChanged = (knob: Knob, value: unknown): boolean =>
  value === MASKED ? knob.changed : JSON.stringify(value) !== JSON.stringify(knob.default)

export const findChangedKnobs = ({ description, config }: PlatformMoment): readonly Knob[] =>
  description.knobs.filter(knob => isChanged(knob, config[knob.name]))

export function KnobsSection() {
  const { knob: linked, sections } = useSession().view
  const { description, config } = usePlatform()
  const [search, setSearch] = useDraft('knob search', '')
  // A link to a knob searches for it.
  useEffect(() => {
    if (linked.value === null) return
    if (!sections.value.includes(SECTION)) sections.value = [...sections.value, SECTION]
    setSearch(linked.value)
  }, [linked.value])
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matches: { readonly knob: Knob; readonly assumption: Assumption | undefined }[] = []
  let changed = 0
  for (const knob of description.knobs) {
    const isOther = isChanged(knob, config[knob.name])
    if (isOther) changed++
    const assumption = description.assumptions.find(({ name }) => name === knob.assumption)
    // Every word is somewhere in the name, the value, or the assumption with its rule.
    const text = JSON.stringify([knob.name, config[knob.name], assumption]).toLowerCase()
    if (words.length === 0 ? isOther : words.every(word => text.includes(word))) matches.push({ knob, assumption })
  }
  return (
    <PlatformSection name={SECTION} title="Knobs" summary={changed === 0 ? 'defaults' : `${changed} changed`}>
      <input
        type="search"
        aria-label="Search knobs"
        placeholder={`Search ${description.knobs.length} knobs`}
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <p class="hint" role="status">
        {words.length === 0
          ? `A knob changes one behaviour that the platform leaves open. ${changed === 0 ? 'None is' : 'These are'} changed.`
          : matches.length === 0
            ? 'No knob matches.'
            : `${matches.length} ${matches.length === 1 ? 'knob' : 'knobs'}`}
      </p>
      <ul class="knobs">
        {matches.map(({ knob, assumption }) => (
          <KnobRow key={knob.name} knob={knob} assumption={assumption} />
        ))}
      </ul>
      {words.length === 0 ? <KnobGroups /> : null}
    </PlatformSection>
  )
}

/** In the order of the page; a knob is in the first group that matches. */
const GROUPS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Signature and keys', /^(keys\.|webhook\.(algorithm|json|sign))/],
  ['Delivery', /^(webhook|typing)\./],
  ['Handover', /^(start|end|request|availability|message|strict)\./],
  ['Ids', /^ids\./],
  ['Texts', /^(messages|summarize|translation|bot)\./],
  ['Transcript', /^(transcript|time|buttons)\./],
  ['Limits', /^(limits|attachments|chat)\./],
  ['Answers of the API', /./],
]

/** All knobs with their values, one line each; a press opens one. */
function KnobGroups() {
  const { view } = useSession()
  const { description, config } = usePlatform()
  const groupOf = (name: string) => GROUPS.find(([, names]) => names.test(name))?.[0]
  return (
    <div>
      {GROUPS.map(([title]) => (
        <details key={title} class="fold">
          <summary>{title}</summary>
          {description.knobs.map(({ name }) =>
            groupOf(name) === title ? (
              <p key={name} class="platform-line">
                <button type="button" class="link" onClick={() => showKnob(view, name)}>
                  {name}
                </button>
                <code>{formatKnob(config[name]) || 'empty'}</code>
              </p>
            ) : null,
          )}
        </details>
      ))}
    </div>
  )
}

interface KnobRowProps {
  readonly knob: Knob
  readonly assumption: Assumption | undefined
}

/** A choice is set when it is chosen. A text follows the value until the user types; then `Set` or Enter sets it, and Escape gives it up. */
function KnobRow({ knob, assumption }: KnobRowProps) {
  const { name, type, values = [], allowed } = knob
  const { view } = useSession()
  const { config, isPast } = usePlatform()
  const saving = useSaving()
  const id = useId()
  const row = useRef<HTMLLIElement>(null)
  const isLinked = view.knob.value === name
  useEffect(() => {
    if (!isLinked) return
    row.current?.scrollIntoView({ block: 'center' })
    row.current?.querySelector<HTMLElement>('input, select')?.focus({ preventScroll: true })
  }, [isLinked])
  const value = config[name]
  const shown = value === MASKED ? '' : formatKnob(value)
  const [typed, setTyped] = useDraft<string | null>('knob', null, name)
  const isDisabled = isPast || saving.isPending
  const set = async (next: unknown) => {
    if (await saving.send('PATCH', '/config', { [name]: next })) setTyped(null)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (typed === null || typed === shown) return
    const items = typed.split(',').flatMap(item => item.trim() || [])
    void set(type !== 'list' ? typed : items.length === 0 || typed.trim() === OFF ? OFF : items)
  }
  const shared = { id, disabled: isDisabled, 'aria-describedby': `${id}about ${id}problem` }
  return (
    <li
      ref={row}
      class={isLinked ? 'knob linked' : 'knob'}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        // A link to the same knob works again after the focus has moved elsewhere.
        if (isLinked && relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) view.knob.value = null
      }}
    >
      <label for={id}>
        <code>{name}</code>
      </label>
      {type === 'choice' ? (
        <select {...shared} value={shown} onChange={({ currentTarget }) => void set(currentTarget.value)}>
          {[...new Set([shown, ...values])].map(word => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      ) : (
        <form class="platform-joined" onSubmit={submit} noValidate>
          <input
            {...shared}
            value={typed ?? shown}
            placeholder={value === MASKED ? 'masked: see Webhook' : type === 'list' ? 'one, another' : ''}
            autocomplete="off"
            spellcheck={false}
            dir="auto"
            aria-invalid={saving.issues.length > 0}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            onKeyDown={({ key }) => key === 'Escape' && setTyped(null)}
          />
          {typed === null || typed === shown ? null : (
            <button type="submit" class="primary" disabled={isDisabled} aria-label={`Set ${name}`}>
              Set
            </button>
          )}
        </form>
      )}
      <FieldMessage id={`${id}problem`} text={problemOf(saving.issues, name)} />
      <OtherProblems issues={saving.issues} names={[name]} />
      <p id={`${id}about`} class="hint">
        {assumption === undefined ? null : (
          <>
            {assumption.open} Default: {assumption.behaviour} ({assumption.rule}){' '}
          </>
        )}
        {type === 'choice' ? null : allowed}{' '}
        {isChanged(knob, value) ? (
          <button type="button" class="link" disabled={isDisabled} onClick={() => void set(knob.default)}>
            Reset to {formatKnob(knob.default) || 'empty'}
          </button>
        ) : null}
      </p>
    </li>
  )
}

const formatKnob = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))

/** Lists what the bot answers to which messages, and adds, edits and removes such replies. */

import { useEffect, useRef } from 'preact/hooks'
import { isMap } from '../../../../base/objects.ts'
import { ButtonInputs, OtherProblems, SwitchField, TextField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { PlatformSection, patchConfig, usePlatform, useSaving } from './platform-section.tsx'

interface Reply {
  readonly match: string
  readonly text: string
  readonly buttons: readonly Readonly<Record<string, unknown>>[]
}

const repliesOf = (value: unknown): readonly Reply[] =>
  (Array.isArray(value) ? value.filter(isMap) : []).map(({ match, text, buttons }) => ({
    match: String(match ?? ''),
    text: String(text ?? ''),
    buttons: Array.isArray(buttons) ? buttons.filter(isMap) : [],
  }))

export function BotRepliesSection() {
  const moment = usePlatform()
  const replies = repliesOf(moment.config['bot.replies'])
  return (
    <PlatformSection
      name="replies"
      title="Bot replies"
      summary={replies.length === 0 ? 'none' : String(replies.length)}
    >
      <ReplyList replies={replies} />
    </PlatformSection>
  )
}

const NEW_REPLY: Reply = { match: '', text: '', buttons: [] }

function ReplyList({ replies }: { readonly replies: readonly Reply[] }) {
  const { isPast } = usePlatform()
  // The index of the reply that is edited, or that of the end for a new one, and what is typed.
  const [draft, setDraft] = useDraft<{ readonly index: number; readonly reply: Reply } | null>('reply', null)
  // The reply may have been removed meanwhile.
  const edited = draft === null || draft.index > replies.length ? null : draft
  const saving = useSaving()
  const set = async (next: readonly Reply[]) => {
    if (await saving.save(patchConfig({ 'bot.replies': next.map(written) }))) setDraft(null)
  }
  const form = ({ index, reply }: NonNullable<typeof edited>) => (
    <ReplyForm
      key={index}
      reply={reply}
      isPending={saving.isPending}
      onChange={changed => setDraft({ index, reply: changed })}
      onSet={() => void set(index === replies.length ? [...replies, reply] : replies.with(index, reply))}
      onCancel={() => setDraft(null)}
    />
  )
  return (
    <>
      {replies.length === 0 && edited === null ? (
        <p class="hint">
          The bot greets, and offers a person for what it does not understand. A reply answers a message that contains
          its words.
        </p>
      ) : null}
      <ol class="replies" hidden={replies.length === 0}>
        {replies.map((reply, index) => (
          <li key={index}>
            {edited?.index === index && !isPast ? (
              form(edited)
            ) : (
              <ReplyView
                reply={reply}
                isDisabled={isPast || saving.isPending}
                onEdit={() => setDraft({ index, reply })}
                onRemove={() => void set(replies.toSpliced(index, 1))}
              />
            )}
          </li>
        ))}
      </ol>
      {edited?.index === replies.length && !isPast ? form(edited) : null}
      <OtherProblems issues={saving.issues} names={[]} />
      {edited === null ? (
        <button type="button" disabled={isPast} onClick={() => setDraft({ index: replies.length, reply: NEW_REPLY })}>
          Add a reply
        </button>
      ) : null}
    </>
  )
}

const written = ({ match, text, buttons }: Reply) => ({ match, text, ...(buttons.length === 0 ? {} : { buttons }) })

interface ReplyViewProps {
  readonly reply: Reply
  readonly isDisabled: boolean
  onEdit(): void
  onRemove(): void
}

function ReplyView({ reply: { match, text, buttons }, isDisabled, onEdit, onRemove }: ReplyViewProps) {
  return (
    <>
      <p class="reply-match" dir="auto">
        <span class="hint">To</span> {match}
      </p>
      <p dir="auto">{text}</p>
      {buttons.length === 0 ? null : <p class="hint">Buttons: {buttons.map(labelOf).join(', ')}</p>}
      <p class="buttons">
        <button type="button" disabled={isDisabled} aria-label={`Edit the reply to ${match}`} onClick={onEdit}>
          Edit
        </button>
        <button
          type="button"
          class="quiet"
          disabled={isDisabled}
          aria-label={`Remove the reply to ${match}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </p>
    </>
  )
}

const labelOf = ({ label, url, handover }: Readonly<Record<string, unknown>>): string => {
  const name = typeof label === 'string' ? label : 'without a label'
  if (handover === true) return `${name} (asks for a person)`
  return typeof url === 'string' ? `${name} (${url})` : name
}

interface ReplyFormProps {
  readonly reply: Reply
  readonly isPending: boolean
  onChange(reply: Reply): void
  onSet(): void
  onCancel(): void
}

function ReplyForm({ reply: draft, isPending, onChange, onSet, onCancel }: ReplyFormProps) {
  const first = useRef<HTMLInputElement>(null)
  // The button that opened it is gone; a form that is shown again leaves the focus where it is.
  useEffect(() => {
    if (document.activeElement === document.body) first.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    onSet()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <TextField
        label="When the message contains"
        inputRef={first}
        required
        dir="auto"
        value={draft.match}
        onChange={match => onChange({ ...draft, match })}
      />
      <TextField
        label="The bot answers"
        rows={2}
        dir="auto"
        value={draft.text}
        onChange={text => onChange({ ...draft, text })}
      />
      <ButtonEditor buttons={draft.buttons} onChange={buttons => onChange({ ...draft, buttons })} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={isPending}>
          Set
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

interface ButtonEditorProps {
  readonly buttons: Reply['buttons']
  onChange(buttons: Reply['buttons']): void
}

/** A button has a label, and opens a link or asks for a person; other fields stay as they are. */
function ButtonEditor({ buttons, onChange }: ButtonEditorProps) {
  const set = (index: number, change: Readonly<Record<string, unknown>>) =>
    onChange(buttons.with(index, { ...buttons[index], ...change }))
  return (
    <fieldset class="platform-fieldset">
      <legend>Buttons</legend>
      {buttons.map((button, index) => (
        <ButtonInputs
          key={index}
          number={index + 1}
          label={typeof button.label === 'string' ? button.label : ''}
          url={typeof button.url === 'string' ? button.url : ''}
          onChange={({ label = button.label, url = button.url }) => set(index, { label, url: url || undefined })}
          onRemove={() => onChange(buttons.toSpliced(index, 1))}
        >
          <SwitchField isOn={button.handover === true} onChange={isOn => set(index, { handover: isOn || undefined })}>
            Asks for a person
          </SwitchField>
        </ButtonInputs>
      ))}
      <button type="button" onClick={() => onChange([...buttons, { label: '' }])}>
        Add a button
      </button>
    </fieldset>
  )
}

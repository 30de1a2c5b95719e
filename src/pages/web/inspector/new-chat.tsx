/** Starts chats: at once with a generated user, or with a language, a person, a bot, a conversation and a context. */

import { useEffect, useId, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { DescriptionAnswer, PlatformKeys } from '../../../server/control/routes/description.ts'
import { type ControlClient, ControlError } from '../client/control.ts'
import { Dialog } from '../components/dialog.tsx'
import { directionOf } from '../model/chat-format.ts'
import { Field, FieldMessage, FormActs, type FormProblems, formProblemsOf } from './form-field.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

/** Starts a chat with a generated user, and shows it. */
export const startChat = (session: Session): void => session.act(() => createAndShow(session, {}))

async function createAndShow({ client, view }: Session, body: object): Promise<void> {
  const { chat_id } = await client.send<{ chat_id: string }>('POST', '/chats', { body })
  view.at.value = null
  view.chat.value = chat_id
}

interface Choices {
  readonly languages: readonly string[]
  readonly transcripts: DescriptionAnswer['transcripts']
  readonly bots: readonly number[]
}

async function loadChoices(client: ControlClient): Promise<Choices> {
  const [{ languages, transcripts }, { bot_id, more }] = await Promise.all([
    client.send<DescriptionAnswer>('GET', '/description'),
    client.send<PlatformKeys>('GET', '/keys'),
  ])
  const bots = [...new Set([bot_id, ...more.map(one => one.bot_id)])]
  return { languages: languages.map(({ code }) => code), transcripts, bots }
}

export interface NewChatDialogProps {
  onClose(): void
}

export function NewChatDialog({ onClose }: NewChatDialogProps) {
  const session = useSession()
  const [choices, setChoices] = useState<Choices | null>(null)
  const [problems, setProblems] = useState<FormProblems | null>(null)
  const [person, setPerson] = useState<Person>('generated')
  useEffect(() => {
    loadChoices(session.client).then(setChoices, error => setProblems(formProblemsOf(error)))
  }, [session.client])
  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    Promise.resolve()
      .then(() => createAndShow(session, bodyOf(form)))
      .then(onClose, (error: unknown) => setProblems(formProblemsOf(error)))
  }
  const problem = (field: string) => problems?.fields.get(field)
  return (
    <Dialog title="Set up a chat" onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <TranscriptField choices={choices} problem={problem('transcript')} />
        <SuggestedField
          name="language"
          label="Language"
          usual="en"
          values={choices?.languages ?? []}
          problem={problem('language')}
        />
        <SuggestedField
          name="source"
          label="Source"
          usual="web"
          values={['web', 'facebook', 'app']}
          problem={problem('source')}
        />
        <PersonField person={person} setPerson={setPerson} problem={problem('user')} />
        {(choices?.bots.length ?? 0) < 2 ? null : <BotField bots={choices?.bots ?? []} />}
        <Field label="Context, as JSON" problem={problem('context')} isWide>
          {id => (
            <textarea id={id} name="context" rows={3} spellcheck={false} placeholder='{ "customer_id": "K-1042" }' />
          )}
        </Field>
        <FormActs problems={problems} act="Start chat" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type Person = 'generated' | 'named' | 'unknown'

const PERSON_TEXTS: Readonly<Record<Person, string>> = {
  generated: 'Generated from the seed',
  named: 'With this name',
  unknown: 'Unknown (no data)',
}

const PERSONS: readonly Person[] = ['generated', 'named', 'unknown']

interface PersonFieldProps {
  readonly person: Person
  setPerson(person: Person): void
  readonly problem: string | undefined
}

function PersonField({ person, setPerson, problem }: PersonFieldProps) {
  return (
    <fieldset class="person">
      <legend>User</legend>
      {PERSONS.map(one => (
        <label key={one}>
          <input type="radio" name="person" value={one} checked={one === person} onChange={() => setPerson(one)} />
          {PERSON_TEXTS[one]}
        </label>
      ))}
      {person !== 'named' ? null : (
        <div class="names">
          <input name="first_name" aria-label="First name" placeholder="First name" required dir="auto" />
          <input name="last_name" aria-label="Last name" placeholder="Last name" required dir="auto" />
        </div>
      )}
      <FieldMessage text={problem} />
    </fieldset>
  )
}

function TranscriptField({
  choices,
  problem,
}: {
  readonly choices: Choices | null
  readonly problem: string | undefined
}) {
  return (
    <Field label="Conversation so far" problem={problem} isWide>
      {id => (
        <select id={id} name="transcript">
          <option value="">None</option>
          {(choices?.transcripts ?? []).map(({ name, language }) => (
            <option key={name} value={name}>
              {name} ({language}
              {directionOf(language) === 'rtl' ? ', from right to left' : ''})
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface SuggestedFieldProps {
  readonly name: string
  readonly label: string
  /** What a field without a value stands for, unless the conversation says otherwise. */
  readonly usual: string
  readonly values: readonly string[]
  readonly problem: string | undefined
}

function SuggestedField({ name, label, usual, values, problem }: SuggestedFieldProps) {
  const list = useId()
  return (
    <Field label={label} problem={problem}>
      {id => (
        <>
          <input id={id} name={name} list={list} placeholder={usual} autocomplete="off" />
          <datalist id={list}>
            {values.map(value => (
              <option key={value} value={value} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function BotField({ bots }: { readonly bots: readonly number[] }) {
  return (
    <Field label="Bot" problem={undefined}>
      {id => (
        <select id={id} name="bot_id">
          {bots.map(bot => (
            <option key={bot} value={bot}>
              {bot}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** The body of the request; what is left empty is generated by the server. */
function bodyOf(form: FormData): object {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const [bot, context] = [text('bot_id'), text('context')]
  const person = text('person')
  return {
    ...Object.fromEntries(
      ['transcript', 'language', 'source'].flatMap(name => (text(name) ? [[name, text(name)]] : [])),
    ),
    ...(person === 'unknown' && { user: null }),
    ...(person === 'named' && { user: { first_name: text('first_name'), last_name: text('last_name') } }),
    ...(bot !== '' && { bot_id: Number(bot) }),
    ...(context !== '' && { context: parseContext(context) }),
  }
}

function parseContext(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = `This is not JSON: ${messageOf(error)}`
    throw new ControlError(422, {
      code: 'invalid_json',
      message: 'The context is not valid.',
      issues: [{ field: 'context', message }],
    })
  }
}

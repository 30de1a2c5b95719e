/** Starts chats: at once with a generated user, or with a language, a person, a bot, a conversation and a context. */

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { DescriptionAnswer, PlatformKeys } from '../../../server/control/routes/description.ts'
import { type ControlClient, ControlError } from '../client/control.ts'
import { Dialog } from '../components/dialog.tsx'
import { directionOf } from '../model/chat-format.ts'
import {
  ChoiceField,
  DialogButtons,
  FieldProblem,
  OtherProblems,
  problemOf,
  SwitchField,
  TextField,
  useSubmission,
} from './fields.tsx'
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
  const { issues, save } = useSubmission()
  const [person, setPerson] = useState<Person>('generated')
  useEffect(() => {
    void save(async client => setChoices(await loadChoices(client)))
  }, [session.client])
  const submit = async (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    if (await save(async () => createAndShow(session, bodyOf(form, person)))) onClose()
  }
  const bots = choices?.bots ?? []
  return (
    <Dialog title="Set up a chat" onClose={onClose}>
      <form class="form in-columns" onSubmit={submit}>
        <ChoiceField
          label="Conversation so far"
          name="transcript"
          isWide
          options={[['', 'None'], ...(choices?.transcripts ?? []).map(transcriptOption)]}
          problem={problemOf(issues, 'transcript')}
        />
        <TextField
          label="Language"
          name="language"
          placeholder="en"
          suggestions={choices?.languages ?? []}
          problem={problemOf(issues, 'language')}
        />
        <TextField
          label="Source"
          name="source"
          placeholder="web"
          suggestions={['web', 'facebook', 'app']}
          problem={problemOf(issues, 'source')}
        />
        <PersonField person={person} setPerson={setPerson} problem={problemOf(issues, 'user')} />
        {bots.length < 2 ? null : (
          <ChoiceField label="Bot" name="bot_id" options={bots.map(bot => [String(bot), String(bot)])} />
        )}
        <TextField
          label="Context, as JSON"
          name="context"
          isWide
          rows={3}
          spellcheck={false}
          placeholder='{ "customer_id": "K-1042" }'
          problem={problemOf(issues, 'context')}
        />
        <OtherProblems issues={issues} names={['transcript', 'language', 'source', 'user', 'context']} />
        <DialogButtons act="Start chat" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function transcriptOption({ name, language }: Choices['transcripts'][number]): readonly [string, string] {
  return [name, `${name} (${language}${directionOf(language) === 'rtl' ? ', from right to left' : ''})`]
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
  readonly problem: string | null
}

function PersonField({ person, setPerson, problem }: PersonFieldProps) {
  return (
    <fieldset class="switches">
      <legend>User</legend>
      {PERSONS.map(one => (
        <SwitchField key={one} group="person" isOn={one === person} onChange={() => setPerson(one)}>
          {PERSON_TEXTS[one]}
        </SwitchField>
      ))}
      {person !== 'named' ? null : (
        <div class="names">
          <input name="first_name" aria-label="First name" placeholder="First name" required dir="auto" />
          <input name="last_name" aria-label="Last name" placeholder="Last name" required dir="auto" />
        </div>
      )}
      <FieldProblem text={problem} />
    </fieldset>
  )
}

/** The body of the request; what is left empty is generated by the server. */
function bodyOf(form: FormData, person: Person): object {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const [bot, context] = [text('bot_id'), text('context')]
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

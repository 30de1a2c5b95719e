/** Starts chats: at once with a generated user, or with a language, a person, a bot, a conversation and a context. */

import { batch } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { DescriptionResponse, PlatformKeys } from '../../../server/control/routes/description.ts'
import { type ControlClient, ControlError } from '../client/control.ts'
import { Dialog } from '../components/dialog.tsx'
import { pauseShortcuts } from '../components/shortcuts.tsx'
import { directionOf } from '../model/chat-format.ts'
import {
  ChoiceField,
  DialogButtons,
  FieldMessage,
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

/** The field of the user gets the focus. Keys that are pressed before act on nothing. */
async function createAndShow({ client, view, chatToWriteIn }: Session, body: object): Promise<void> {
  const endPause = pauseShortcuts()
  try {
    const { chat_id } = await client.send<{ chat_id: string }>('POST', '/chats', { body })
    batch(() => {
      chatToWriteIn.value = chat_id
      view.at.value = null
      view.chat.value = chat_id
      view.column.value = 'user'
      view.folded.value = view.folded.value.filter(name => name !== 'user')
    })
  } catch (error) {
    endPause()
    throw error
  }
}

interface Choices {
  readonly languages: readonly string[]
  readonly transcripts: readonly (readonly [name: string, text: string])[]
  readonly bots: readonly number[]
}

async function loadChoices(client: ControlClient): Promise<Choices> {
  const [{ languages, transcripts }, { bot_id, more }] = await Promise.all([
    client.send<DescriptionResponse>('GET', '/description'),
    client.send<PlatformKeys>('GET', '/keys'),
  ])
  const bots = [...new Set([bot_id, ...more.map(key => key.bot_id)])]
  const options = transcripts.map(({ name, language }): readonly [string, string] => {
    const direction = directionOf(language) === 'rtl' ? ', from right to left' : ''
    return [name, `${name} (${language}${direction})`]
  })
  return { languages: languages.map(({ code }) => code), transcripts: options, bots }
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
    if (await save(async () => createAndShow(session, buildBody(form, person)))) onClose()
  }
  const bots = choices?.bots ?? []
  return (
    <Dialog title="Set up a chat" onClose={onClose}>
      <form class="form in-columns" onSubmit={submit}>
        <ChoiceField
          label="Conversation so far"
          name="transcript"
          isWide
          options={[['', 'None'], ...(choices?.transcripts ?? [])]}
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
          suggestions={['web', 'facebook', 'app', 'android', 'ios']}
          problem={problemOf(issues, 'source')}
        />
        <fieldset class="switches">
          <legend>User</legend>
          {PERSONS.map(([name, text]) => (
            <SwitchField key={name} group="person" isOn={name === person} onChange={() => setPerson(name)}>
              {text}
            </SwitchField>
          ))}
          {person !== 'named' ? null : (
            <div class="names">
              <input name="first_name" aria-label="First name" placeholder="First name" required dir="auto" />
              <input name="last_name" aria-label="Last name" placeholder="Last name" required dir="auto" />
            </div>
          )}
          <FieldMessage text={problemOf(issues, 'user')} />
        </fieldset>
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

const PERSONS = [
  ['generated', 'Generated from the seed'],
  ['named', 'With this name'],
  ['unknown', 'Unknown (no data)'],
] as const
type Person = (typeof PERSONS)[number][0]

/** The body of the request; what is left empty is generated by the server. */
function buildBody(form: FormData, person: Person): object {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const body: Record<string, unknown> = {}
  for (const name of ['transcript', 'language', 'source']) if (text(name) !== '') body[name] = text(name)
  if (text('bot_id') !== '') body.bot_id = Number(text('bot_id'))
  if (text('context') !== '') body.context = parseContext(text('context'))
  if (person === 'unknown') body.user = null
  if (person === 'named') body.user = { first_name: text('first_name'), last_name: text('last_name') }
  return body
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

/** Calls the drivers of docs/how-to/desks.md against a desk that answers with the JSON of the page. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Asked, context, drive, never, openDesk } from '../../agent-driver/desk.ts'
import { blocks, read, section } from '../pages.ts'

const FILE = { name: 'a.pdf', url: 'http://127.0.0.1:4747/files/5f3a/a.pdf', type: 'application/pdf' }
const TEXT = 'I am sorry: <b> & \n"more"'
const HTML = '<p>I am sorry: &lt;b&gt; &amp; <br>"more"</p>'

/** The requests of a verb: method and path, and the body. */
type Request = readonly [route: string, body: unknown]
interface Shape {
  readonly heading: string
  readonly driver: 'js' | 'yaml'
  /** The answers to GET, by path; `shown` is the JSON of the page. */
  answers(shown: never): Readonly<Record<string, unknown>>
  /** The fields of an attachment of the user, in the JSON that is shown. */
  readonly file: object
  /** Finds the item of the user in the JSON that is shown. */
  userItem(shown: never): object
  readonly text: string
  readonly verbs: Readonly<Record<string, Request>>
}

const SHAPES: readonly Shape[] = [
  {
    heading: 'Tickets with comments',
    driver: 'js',
    answers: shown => ({
      '/tickets?external_id=c1': { tickets: [{ id: 135, requester_id: 20 }] },
      '/tickets/135/comments': shown,
    }),
    file: { file_name: FILE.name, content_url: FILE.url, content_type: FILE.type },
    userItem: ({ comments }: { comments: object[] }) => comments[1]!,
    text: 'My parcel is lost',
    verbs: {
      accept: ['PUT /tickets/135', { ticket: { assignee_id: 7 } }],
      says: ['PUT /tickets/135', { ticket: { comment: { body: TEXT, public: true } } }],
      leave: ['PUT /tickets/135', { ticket: { status: 'solved' } }],
    },
  },
  {
    heading: 'Parts in HTML',
    driver: 'js',
    answers: shown => ({ '/conversations/c1': shown }),
    file: { name: FILE.name, url: FILE.url, content_type: FILE.type },
    userItem: ({ conversation_parts: parts }: { conversation_parts: object[] }) => parts[2]!,
    text: 'Lost:\none parcel & one letter',
    verbs: {
      accept: ['POST /conversations/c1/parts', { part_type: 'assignment', admin_id: 7 }],
      says: ['POST /conversations/c1/parts', { part_type: 'comment', body: HTML }],
      leave: ['POST /conversations/c1/parts', { part_type: 'close' }],
    },
  },
  {
    heading: 'Messages with numeric types',
    driver: 'yaml',
    answers: shown => ({ '/conversations/c1/messages': shown }),
    file: { file_name: FILE.name, data_url: FILE.url, content_type: FILE.type },
    userItem: ({ payload }: { payload: object[] }) => payload[2]!,
    text: 'My parcel is lost',
    verbs: {
      accept: ['POST /conversations/c1/assignments', { assignee_id: 7 }],
      says: ['POST /conversations/c1/messages', { content: TEXT, message_type: 'outgoing' }],
      type: ['POST /conversations/c1/toggle_typing_status', { typing_status: 'on' }],
      stop: ['POST /conversations/c1/toggle_typing_status', { typing_status: 'off' }],
      leave: ['POST /conversations/c1/toggle_status', { status: 'resolved' }],
    },
  },
]

describe.each(SHAPES)('$heading', ({ heading, driver: language, answers, file, userItem, text, verbs }) => {
  const page = section(read('docs/how-to/desks.md'), heading)
  const isAllowed = ({ headers }: Asked) =>
    [headers.authorization, headers.api_access_token].join('').endsWith('s3cret')

  it('reads the inbox and acts with the requests of the desk', async () => {
    vi.stubEnv('DESK_TOKEN', 's3cret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const shown = JSON.parse(blocks(page, 'json')[0]!) as never
    Object.assign(userItem(shown), { attachments: [file] })
    const desk = await openDesk((asked, response) => {
      const answer = asked.method === 'GET' ? answers(shown)[decodeURIComponent(asked.url)] : {}
      response.writeHead(!isAllowed(asked) ? 401 : answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}))
    })
    const local = (block: string) => block.replaceAll('http://127.0.0.1:3100', desk.url)
    const [code = ''] = blocks(page, 'js').map(local)
    const isModule = language === 'js'
    const { driver } = await drive(isModule ? code : local(blocks(page, 'yaml')[0]!), {
      name: isModule ? 'driver.mjs' : 'driver.yaml',
      files: isModule ? {} : { 'inbox.mjs': code },
      env: { DESK_TOKEN: 's3cret' },
    })
    const call = (verb: string, id = 'c1') => {
      const { chat } = context()
      return driver.call(verb as never, context({ chat: { ...chat!, id }, text: TEXT }), never)
    }
    const { items } = await call('inbox')
    expect(items).toEqual([{ request: true }, { text, attachments: [FILE] }])
    for (const [verb, request] of Object.entries(verbs)) {
      desk.asked.length = 0
      expect((await call(verb)).error).toBeUndefined()
      const written = desk.asked.filter(({ method }) => method !== 'GET')
      expect(written.map(({ method, url, body }) => [`${method} ${url}`, JSON.parse(body)])).toEqual([request])
    }
  })
})

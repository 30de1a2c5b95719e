/** Calls the drivers of docs/how-to/desks.md against a desk that answers with the JSON of the page. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Asked, context, drive, never, openDesk } from '../../agent-driver/desk.ts'
import { blocks, read, section } from '../pages.ts'

const FILE = { name: 'a.pdf', url: 'http://127.0.0.1:4747/files/5f3a/a.pdf', type: 'application/pdf' }
const TEXT = 'I am sorry: <b> & \n"more"'
const HTML = '<p>I am sorry: &lt;b&gt; &amp; <br>"more"</p>'

type Items = Record<string, object[]>

/**
 * `answers` are the answers to GET, by path, where `shown` is the JSON of the page. `userItem` finds the item of the user in
 * it, which gets an attachment with the fields `file`. `verbs` are the requests: method and path, and the body.
 */
const SHAPES = [
  {
    heading: 'Tickets with comments',
    driver: 'js',
    answers: (shown: Items) => ({
      '/tickets?external_id=c1': { tickets: [{ id: 135, requester_id: 20 }] },
      '/tickets/135/comments': shown,
    }),
    file: { file_name: FILE.name, content_url: FILE.url, content_type: FILE.type },
    userItem: (shown: Items) => shown.comments![1]!,
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
    answers: (shown: Items) => ({ '/conversations/c1': shown }),
    file: { name: FILE.name, url: FILE.url, content_type: FILE.type },
    userItem: (shown: Items) => shown.conversation_parts![2]!,
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
    answers: (shown: Items) => ({ '/conversations/c1/messages': shown }),
    file: { file_name: FILE.name, data_url: FILE.url, content_type: FILE.type },
    userItem: (shown: Items) => shown.payload![2]!,
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

it.each(SHAPES)(
  '$heading: reads the inbox and acts with the requests of the desk',
  async ({ heading, driver: language, answers, file, userItem, text, verbs }) => {
    const page = section(read('docs/how-to/desks.md'), heading)
    const isAllowed = ({ headers }: Asked) => /s3cret$/.test(`${headers.authorization ?? headers.api_access_token}`)
    vi.stubEnv('DESK_TOKEN', 's3cret')
    onTestFinished(() => void vi.unstubAllEnvs())
    const shown = JSON.parse(blocks(page, 'json')[0]!) as Items
    Object.assign(userItem(shown), { attachments: [file] })
    const desk = await openDesk((asked, response) => {
      const answer =
        asked.method === 'GET' ? (answers(shown) as Record<string, unknown>)[decodeURIComponent(asked.url)] : {}
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
  },
)

/** Plays shipped scenarios through each driver of docs/how-to/desks.md, and a help desk of its shape. */
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { createDriver } from '../../../src/running/agent-driver/create-driver.ts'
import { loadDriver } from '../../../src/running/agent-driver/load-driver.ts'
import { around, context, never, SIM } from '../../agent-driver/desk.ts'
import { fakeOutput } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { NON_INTERACTIVE, type Outcome } from '../../shipped/target.ts'
import { freePort } from '../../support/port.ts'
import { blocks, read, section } from '../pages.ts'
import { openIntermediary, TOKEN } from './desks/intermediary.ts'
import { createMessagesDesk } from './desks/messages.ts'
import { createPartsDesk } from './desks/parts.ts'
import { createTicketDesk } from './desks/tickets.ts'

const PAGE = read('docs/how-to/desks.md')
const jsOf = (heading: string) => blocks(section(PAGE, heading), 'js')[0]!

/** The scenarios that the page names. */
const NAMED = [...section(PAGE, 'Try it').matchAll(/`([\w-]+\.yaml)`/g)].map(([, file]) => `builtin:${file}`)

const SHAPES = [
  {
    heading: 'Tickets with comments',
    createDesk: createTicketDesk,
    files: { 'driver.mjs': jsOf('Tickets with comments') },
    scenarios: NAMED,
  },
  {
    heading: 'Parts in HTML',
    createDesk: createPartsDesk,
    files: { 'driver.mjs': jsOf('Parts in HTML') },
    scenarios: NAMED,
  },
  {
    heading: 'Messages with numeric types',
    createDesk: createMessagesDesk,
    files: {
      'driver.yaml': blocks(section(PAGE, 'Messages with numeric types'), 'yaml')[0]!,
      'inbox.mjs': jsOf('Messages with numeric types'),
    },
    // A command takes a long time for the many texts of texts.yaml.
    scenarios: [...NAMED.filter(file => file !== 'builtin:texts.yaml'), 'builtin:typing.yaml'],
  },
]
type Shape = (typeof SHAPES)[number]

/** Opens a desk of the shape, writes its driver, and runs scenarios. */
async function play({ createDesk, files }: Shape, scenarios: readonly string[]) {
  vi.stubEnv('DESK_TOKEN', TOKEN)
  onTestFinished(() => void vi.unstubAllEnvs())
  const port = await freePort()
  const { url, chatIds, reads } = await openIntermediary(`http://127.0.0.1:${port}`, createDesk)
  const written = Object.entries(files).map(([name, text]) => [name, text.replaceAll('http://127.0.0.1:3100', url)])
  const folder = folderWith(Object.fromEntries(written))
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, DESK_TOKEN: TOKEN }
  const name = Object.keys(files)[0]!
  const where = ['--target', `${url}/webhook`, '--agent-driver', join(folder, name), '--port', String(port)]
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  const io = { ...NON_INTERACTIVE, cwd: folder, stdout, stderr }
  const exitCode = await main(['run', ...scenarios, ...where, '--report', 'json'], env, io)
  expect(stdout.text, stderr.text).not.toBe('')
  const outcome = JSON.parse(stdout.text) as Outcome
  const driver = createDriver(await loadDriver(name, around({ cwd: folder, env })), { env, sim: SIM })
  onTestFinished(() => driver.close())
  const inboxOf = async (id: string) =>
    (await driver.call('inbox', context({ chat: { ...context().chat!, id } }), never)).items
  return { exitCode, outcome, chatIds, reads, inboxOf }
}

/** Returns the names of all fields, at any depth. */
const fieldsOf = (value: unknown): string[] => {
  const names = new Set<string>()
  JSON.stringify(value, (name, inner) => {
    if (!/^\d*$/.test(name)) names.add(name)
    return inner
  })
  return [...names].sort()
}

describe.each(SHAPES)('$heading', shape => {
  it('shows the agent exactly what the user does', async () => {
    const { exitCode, chatIds, reads, inboxOf } = await play(shape, ['builtin:happy-path.yaml'])
    expect(exitCode).toBe(0)
    const [shown = ''] = blocks(section(PAGE, shape.heading), 'json')
    expect(fieldsOf(reads.at(-1))).toEqual(fieldsOf(JSON.parse(shown)))
    const [chatId = ''] = chatIds
    // The scenario ends its texts with a token.
    const text = expect.stringMatching(/^My parcel is lost, and it's my sister's birthday\. \S+$/)
    expect(await inboxOf(chatId)).toEqual([{ request: true }, { text, attachments: [] }])
    expect(await inboxOf('unknown')).toEqual([])
  })

  it('plays the scenarios that the page names', async () => {
    expect(NAMED).toHaveLength(3)
    const { exitCode, outcome } = await play(shape, shape.scenarios)
    const others = outcome.scenarios.filter(({ outcome, warnings }) => outcome !== 'pass' || warnings.length > 0)
    expect(others).toEqual([])
    expect(outcome.scenarios).toHaveLength(shape.scenarios.length)
    expect(exitCode).toBe(0)
  })
})

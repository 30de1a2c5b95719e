/** Runs the commands of docs/how-to/going-live.md, and checks that it names each assumption and the default settings. */
import { afterEach, expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { createSimulator } from '../../../src/index.ts'
import { ASSUMPTIONS } from '../../../src/platform/contract/assumptions.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, inlineCode, read, rows, section } from '../pages.ts'

const PAGE = read('docs/how-to/going-live.md')
const COMMANDS = blocks(PAGE, 'sh').flatMap(text => text.trim().split('\n'))
const FLAGS = inlineCode(PAGE).filter(text => text.startsWith('--set '))

const DRIVER = 'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: /accept }\ninbox: { GET: /inbox }\n'
const VARIABLES: Readonly<Record<string, string>> = {
  HANDOVER_API_KEY: 'examplekey',
  SIGNATURE: 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=',
}

async function command(typed: string, ...more: string[]) {
  const io = fakeIo(folderWith({ 'driver.yaml': DRIVER, 'body.json': '{"foo":1,"bar":2}' }))
  const [, , ...argv] = typed.replaceAll(/"\$(\w+)"/g, (_, name: string) => VARIABLES[name] ?? '').split(' ')
  const code = await main([...argv, ...more], VARIABLES, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

const sims: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(sims.splice(0).map(sim => sim.close())))

it.each(COMMANDS.filter(text => text.includes(' run ')))('%s plays the shipped scenarios', async typed => {
  const { code, out, err } = await command(typed, '--dry-run')
  expect(code, out + err).toBe(0)
  expect(out).toMatch(/^\d+ to run$/m)
})

it('compares the signature of a real event', async () => {
  const typed = COMMANDS.find(text => text.includes(' verify '))
  expect(await command(typed ?? '')).toMatchObject({ code: 0 })
})

it.each(FLAGS)('%s is a setting', async flag => {
  expect(await command(`npx handover-sim config ${flag}`)).toMatchObject({ code: 0, err: '' })
})

it('names the settings of the simulator', () => {
  const sim = createSimulator()
  sims.push(sim)
  const named = inlineCode(section(PAGE, 'Which settings change'))
  expect(named).toEqual(expect.arrayContaining([sim.apiKey, sim.botApiKey, String(sim.botId), 'http://127.0.0.1:4747']))
})

it('has each assumption in one row, with an advice', () => {
  const [, ...table] = rows(section(PAGE, 'What the simulator cannot know'))
  const names = table.flatMap(([names]) => inlineCode(names!))
  expect(names.sort()).toEqual(ASSUMPTIONS.map(({ name }) => name).sort())
  expect(table.filter(([, advice]) => !advice)).toEqual([])
})

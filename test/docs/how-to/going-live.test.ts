/** Checks the commands of docs/how-to/going-live.md and docs/tutorials/first-week.md, and that the former has advice for every assumption. */
import { expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { ASSUMPTIONS } from '../../../src/platform/contract/assumptions.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, inlineCode, read, rows, section } from '../pages.ts'

const DRIVER = 'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: /accept }\ninbox: { GET: /inbox }\n'
const VARIABLES: Readonly<Record<string, string>> = {
  HANDOVER_API_KEY: 'examplekey',
  SIGNATURE: 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=',
}

const GOING_LIVE = read('docs/how-to/going-live.md')
const settings = inlineCode(GOING_LIVE).filter(text => text.startsWith('--set '))
const typed = [...blocks(GOING_LIVE, 'sh'), ...blocks(read('docs/tutorials/first-week.md'), '')]

it.each([
  ...typed.flatMap(text => text.trim().split('\n')).filter(line => / (run|certify|verify) /.test(line)),
  ...settings.map(flag => `npx handover-sim config ${flag}`),
])('%s', async command => {
  const io = fakeIo(folderWith({ 'driver.yaml': DRIVER, 'body.json': '{"foo":1,"bar":2}' }))
  const [npx, program, ...argv] = command.replaceAll(/"\$(\w+)"/g, (_, name) => VARIABLES[name] ?? '').split(' ')
  expect([npx, program]).toEqual(['npx', 'handover-sim'])
  const more = / (run|certify) /.test(command) ? ['--dry-run'] : []
  expect(await main([...argv, ...more], VARIABLES, io), io.stdout.text + io.stderr.text).toBe(0)
})

it('there is advice for each assumption, once', () => {
  const [, ...advice] = rows(section(GOING_LIVE, 'What the simulator cannot know'))
  const named = advice.flatMap(([names = '']) => inlineCode(names))
  expect(named.sort()).toEqual(ASSUMPTIONS.map(({ name }) => name).sort())
  expect(advice.filter(([, text = '']) => text === '')).toEqual([])
})

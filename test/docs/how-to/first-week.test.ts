/** Checks that the commands of docs/tutorials/first-week.md are accepted, and select what the page says. */
import { expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { SCENARIO_GROUPS } from '../../../src/running/runner/schedule.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, read } from '../pages.ts'

const COMMANDS = blocks(read('docs/tutorials/first-week.md'), '').flatMap(block => block.trim().split('\n'))

it.each(COMMANDS)('%s', async command => {
  const [npx, program, ...args] = command.split(' ')
  expect([npx, program]).toEqual(['npx', 'handover-sim'])
  const io = fakeIo(
    folderWith({ 'driver.yaml': 'version: 1\nhttp: http://127.0.0.1:3000\naccept: { POST: /accept }\n' }),
  )
  expect(await main([...args, '--dry-run'], {}, io), io.stderr.text).toBe(0)
})

it('the page goes through the groups of the shipped scenarios, then the profiles', () => {
  const tags = COMMANDS.flatMap(command => /--tag (\w+)/.exec(command)?.[1] ?? [])
  expect(tags).toEqual(Object.keys(SCENARIO_GROUPS))
  const profiles = COMMANDS.filter(command => command.includes('certify')).map(
    command => /--profile (\S+)/.exec(command)?.[1] ?? 'all',
  )
  expect(profiles).toEqual(['webhook', 'webhook,flow', 'all'])
})

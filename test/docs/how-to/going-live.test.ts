/** Checks that the commands of docs/how-to/going-live.md and docs/tutorials/first-week.md are accepted. */
import { describe, expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { createSimulator } from '../../../src/index.ts'
import { SCENARIO_GROUPS } from '../../../src/running/runner/schedule.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, inlineCode, read, section } from '../pages.ts'

const DRIVER = 'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: /accept }\ninbox: { GET: /inbox }\n'
const VARIABLES: Readonly<Record<string, string>> = {
  HANDOVER_API_KEY: 'examplekey',
  SIGNATURE: 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=',
}

async function type(typed: string, ...more: string[]) {
  const io = fakeIo(folderWith({ 'driver.yaml': DRIVER, 'body.json': '{"foo":1,"bar":2}' }))
  const [npx, program, ...argv] = typed.replaceAll(/"\$(\w+)"/g, (_, name) => VARIABLES[name] ?? '').split(' ')
  expect([npx, program]).toEqual(['npx', 'handover-sim'])
  const code = await main([...argv, ...more], VARIABLES, io)
  return { code, text: io.stdout.text + io.stderr.text }
}

describe('docs/how-to/going-live.md', () => {
  const PAGE = read('docs/how-to/going-live.md')
  const commands = blocks(PAGE, 'sh').flatMap(text => text.trim().split('\n'))
  const flags = inlineCode(PAGE).filter(text => text.startsWith('--set '))

  it.each(commands.filter(text => text.includes(' run ')))('%s runs the shipped scenarios', async typed => {
    expect(await type(typed, '--dry-run')).toEqual({ code: 0, text: expect.stringMatching(/^\d+ to run$/m) })
  })

  it('compares the signature of a real event', async () => {
    expect(await type(commands.find(text => text.includes(' verify '))!)).toMatchObject({ code: 0 })
  })

  it('names settings of the program', async () => {
    for (const flag of flags) expect(await type(`npx handover-sim config ${flag}`)).toMatchObject({ code: 0 })
    const sim = createSimulator()
    const named = inlineCode(section(PAGE, 'Which settings change'))
    expect(named).toEqual(expect.arrayContaining([sim.apiKey, sim.botApiKey, String(sim.botId)]))
  })
})

describe('docs/tutorials/first-week.md', () => {
  const commands = blocks(read('docs/tutorials/first-week.md'), '').flatMap(block => block.trim().split('\n'))
  const valuesOf = (flag: string) =>
    commands.flatMap(command => new RegExp(`--${flag} (\\S+)`).exec(command)?.[1] ?? [])

  it.each(commands)('%s', async typed => {
    expect(await type(typed, '--dry-run')).toMatchObject({ code: 0 })
  })

  it('goes through the groups of the shipped scenarios, then the profiles', () => {
    expect(valuesOf('tag')).toEqual(Object.keys(SCENARIO_GROUPS))
    expect(valuesOf('profile')).toEqual(['webhook', 'webhook,flow'])
  })
})

/** Runs the scenarios and the command of three pages against the reference intermediary. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, read } from '../pages.ts'

async function run(cwd: string, ...argv: string[]): Promise<{ code: number; text: string }> {
  const io = fakeIo(cwd)
  const code = await main(['run', ...argv, '--self-test', '--port', '0'], {}, io)
  return { code, text: io.stdout.text + io.stderr.text }
}

it.each(['closed-hours', 'chaos'])('the scenarios of docs/how-to/%s.md pass', async page => {
  const scenarios = blocks(read(`docs/how-to/${page}.md`), 'yaml')
  expect(scenarios.length).toBeGreaterThan(1)
  const cwd = folderWith()
  for (const [index, text] of scenarios.entries()) writeFileSync(join(cwd, `${index}.yaml`), text)
  const { code, text } = await run(cwd, '.')
  expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining(`${scenarios.length} passed`) })
})

it('the command of docs/how-to/flaky-tests.md repeats a scenario', async () => {
  const [typed = ''] = blocks(read('docs/how-to/flaky-tests.md'), 'sh')
  const argv = typed.trim().split(' ').slice(3)
  const { code, text } = await run(folderWith(), ...argv)
  expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining('20 passed') })
})

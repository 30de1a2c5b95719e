/** Types the commands of docs/how-to/calibration.md, and compares what the page shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, read } from './pages.ts'
import { createProject } from './project.ts'

const PAGE = read('docs/how-to/calibration.md')
const [start = '', play = '', compare = '', write = '', replay = '', plan = '', ...others] = blocks(PAGE, 'sh')
const [contradicted = '', step = ''] = blocks(PAGE, '')

it.skipIf(!hasShell)('finds the knobs of a simulator that plays the platform (needs bash and curl)', async () => {
  expect(others).toEqual([])
  const port = String(await freePort())
  const { folder, type } = createProject()
  const typed = (commands: string) => type(commands.replaceAll('4848', port))
  onTestFinished(async () => void (await typed('npx handover-sim stop --port 4848')))
  expect(await typed(`${start}${play}`)).toMatchObject({ code: 0 })
  const compared = await typed(compare)
  expect(compared).toMatchObject({ code: 1 })
  // The number of an entry depends on when the simulator was ready.
  expect(compared.stdout.replace(/#\d+/g, '#N')).toContain(contradicted)

  expect((await typed(write)).stderr).toBe('wrote handover-sim.config.yaml\n')
  const config = readFileSync(join(folder, 'handover-sim.config.yaml'), 'utf8')
  expect(config).toMatch(/# once: traffic\.jsonl #\d+\n {2}start\.again: "409"\n/)
  const replayed = await typed(replay)
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/Replayed 5 .* without a difference\./) })

  await typed(plan)
  expect(readFileSync(join(folder, 'todo.md'), 'utf8')).toContain(step)
})

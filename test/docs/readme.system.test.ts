/** Types the commands that blocks of README.md show, with the built package. The demo has a test of its own. */
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { blocks, read } from './pages.ts'
import { createProject } from './project.ts'

const lines = blocks(read('README.md'), '').flatMap(block => block.split('\n'))
const [start = '', run = ''] = lines.filter(line => line.startsWith('npx handover-sim '))

it('starts a server', async () => {
  const { stdout, child, code } = createProject().start(`exec ${start} --port 0`)
  await stdout.until(/^Ready: http:\/\/127\.0\.0\.1:\d+\n$/)
  child.kill('SIGINT')
  expect(await code).toBe(130)
})

it('runs the shipped scenarios', async () => {
  const port = await freePort()
  const driver = writeDriver(folderWith(), port, null)
  const command = run.replace('driver.yaml', driver).replace(':3000', `:${port}`)
  const { code, stdout, stderr } = await createProject().type(`${command} --port 0 --tag smoke`)
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/\d+ scenarios? in .*: \d+ passed/)
})

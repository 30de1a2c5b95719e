/** Runs the programs of docs/how-to/unit-tests.md about adapters with the built package. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { blocks, pathOf, read, run, section } from '../docs/pages.ts'

it.each(['msw', 'Any HTTP client'])('the program under %s prints the output in its comments', async heading => {
  const [text = ''] = blocks(section(read('docs/how-to/unit-tests.md'), heading), 'js')
  mkdirSync(pathOf('.handover-sim'), { recursive: true })
  const folder = mkdtempSync(join(pathOf('.handover-sim'), 'doors-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, text)
  const promised = [...text.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, said]) => said)
  const { code, stdout, stderr } = await run(process.execPath, [file])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toEqual(promised)
  expect(promised).toHaveLength(2)
})

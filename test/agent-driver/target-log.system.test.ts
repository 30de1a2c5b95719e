import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRedactor } from '../../src/base/text/redactor.ts'
import { isRunning, launch } from '../../src/running/agent-driver/process-group.ts'
import { TargetLog, type TargetLogOptions } from '../../src/running/agent-driver/target.ts'
import { folderWith } from '../config/folder.ts'

/** Runs a program to its end. */
async function logOf(source: string, options: Partial<TargetLogOptions> = {}) {
  const folder = folderWith({ 'program.mjs': source })
  const path = join(folder, 'target.log')
  const problems: string[] = []
  const log = new TargetLog({
    file: { path, name: 'target.log' },
    redact: line => line.replaceAll('sesame', '***'),
    onProblem: message => problems.push(message),
    ...options,
  })
  const running = launch({ command: [process.execPath, 'program.mjs'], cwd: folder, env: process.env })
  if (!isRunning(running)) throw new Error(running.code)
  await log.follow(running)
  return { log, path, problems }
}

it('keeps both streams line by line, without colours and secrets, also the last line without a line end', async () => {
  const source = `console.log('\\u001b[32mkey sesame\\u001b[0m'); console.error('no'); process.stdout.write('ses'); setTimeout(() => process.stdout.write('ame, and out'), 50)`
  const { log, path } = await logOf(source)
  expect(log.last(0).sort()).toEqual(['***, and out', 'key ***', 'no'])
  expect(readFileSync(path, 'utf8').split('\n').sort()).toEqual(['', '***, and out', 'key ***', 'no'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('has the last 20 lines of those that came after a moment, each at most 400 characters, without empty ones around them', async () => {
  const { log } = await logOf(
    `for (let n = 1; n <= 30; n++) console.log('line ' + n); console.log('x'.repeat(500) + '\\n\\n')`,
  )
  expect(log.printed).toBe(33)
  expect(log.last(0)).toHaveLength(18)
  expect(log.last(0)[0]).toBe('line 14')
  expect(log.last(0).at(-1)).toBe(`${'x'.repeat(399)}…`)
  expect(log.last(29)).toEqual(['line 30', `${'x'.repeat(399)}…`])
  expect(log.last(33)).toEqual([])
})

it('has the first frames of a stack trace, with white space for tabs, and counts the others', async () => {
  const { log } = await logOf(
    `console.log('java.lang.StackOverflowError'); for (let n = 1; n <= 1000; n++) console.log('\\tat java.base/Pattern.match' + n); console.log('after')`,
  )
  const frames = [1, 2, 3, 4, 5].map(n => `    at java.base/Pattern.match${n}`)
  expect(log.last(0)).toEqual(['java.lang.StackOverflowError', ...frames, '    ... 995 more frames', 'after'])
  expect(log.last(1000)).toEqual(['    ... 995 more frames', 'after'])
})

it('shortens the file to its last 5 MB when it has more than 10 MB', async () => {
  const { path } = await logOf(`for (let n = 1; n <= 12_000; n++) console.log(n + ' ' + 'x'.repeat(1000))`)
  const text = readFileSync(path, 'utf8')
  expect(text.length).toBeLessThan(10 * 2 ** 20)
  expect(text.length).toBeGreaterThan(5 * 2 ** 20 - 2000)
  expect(text).toMatch(/^\.\.\. earlier output is left out\n\d+ x{1000}\n[\s\S]*\n12000 x{1000}\n$/)
})

it('shows no part of a secret where a very long line is split', async () => {
  const secrets = createRedactor()
  const key = 'hk-live-Q7w8E9r0T1y2U3i4O5p6'
  secrets.add(key)
  const source = `process.stdout.write('x'.repeat(65_522) + '${key}' + 'y'.repeat(70_000))`
  const { path } = await logOf(source, { redact: secrets.redact })
  expect(readFileSync(path, 'utf8').replaceAll(/([xy])+/g, '$1')).toBe('x***…\n…***y…\n…y\n')
})

it('keeps the end of a line without an end that is longer than the memory for it', async () => {
  const { log } = await logOf(`process.stdout.write('x'.repeat(200_000)); process.stdout.write('\\nend\\n')`)
  expect(log.last(0).at(-1)).toBe('end')
  expect(log.printed).toBeGreaterThan(2)
})

it('says once why the file cannot be written, and keeps the last lines', async () => {
  const file = { path: join(folderWith({ a: 'file' }), 'a/target.log'), name: '.handover-sim/target.log' }
  const { log, problems } = await logOf(`console.log('a'); setTimeout(() => console.log('b'), 50)`, { file })
  const why = 'part of the path is a file'
  expect(problems).toEqual([`Note: the output of the target could not be written to .handover-sim/target.log: ${why}`])
  expect([log.last(0), log.fileName]).toEqual([['a', 'b'], null])
})

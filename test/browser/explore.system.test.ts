/** `explore --ui` in Chromium: counters, the map of situations, and a failure with its diagram, chat and scenario file. */
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { axeViolations, chromium, open } from './inspector-page.ts'

/** A conversation that fails, with acts that the failure does not need. */
const FAILING = [
  { kind: 'press', chat: 0, pace: 'human' },
  { kind: 'accept', chat: 0, pace: 'human' },
  { kind: 'says', chat: 0, pace: 'human', text: { kind: 'plain', value: 'Hello' } },
  { kind: 'user', chat: 0, pace: 'human', text: { kind: 'digits', value: '4711' } },
]
const NAME = 'A text of the user does not reach the agent: press, accept, user (digits)'

async function startExploring() {
  const state = { version: 1, seed: 5, next: 1, situations: {}, failing: [{ seed: 9, acts: FAILING, knobs: {} }] }
  const folder = folderWith({ 'explored.json': JSON.stringify(state) })
  const port = await freePort()
  const driver = writeDriver(folder, port, 'takes-digits-for-a-code')
  const target = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver, '--port', '0']
  const io = fakeIo(folder)
  const budget = ['--conversations', '1', '--within', '1s', '--state', 'explored.json']
  const ended = main(['explore', ...target, ...budget, '--ui'], {}, io)
  const failed = ended.then(() => Promise.reject(new Error(io.stderr.text)))
  const text = await Promise.race([io.stdout.until(/UI mode: \S+/), failed])
  failed.catch(() => {})
  const { page } = await open(/UI mode: (\S+)/.exec(text)?.[1] ?? '')
  page.setDefaultTimeout(60_000)
  return { io, ended, page }
}

describe.skipIf(chromium === null)('explore --ui', () => {
  it('counts, fills the map, and shows each failure with diagram, chat and file', { timeout: 200_000 }, async () => {
    // The page is there from the beginning, and follows.
    const { io, ended, page } = await startExploring()
    await page.getByRole('heading', { name: 'Explore' }).waitFor()
    await page.getByText('Exploring: 0 conversations', { exact: false }).waitFor()
    const cell = (state: string, column: number) => page.getByRole('row', { name: state }).getByRole('cell').nth(column)
    expect(await cell('agent', 0).textContent()).toBe('0')
    await page.getByText('Shortening INV-TEXT-TO-AGENT in conversation 9', { exact: false }).waitFor()
    expect(await page.getByText(NAME).count()).toBe(0)

    await page.locator('.scenario-row', { hasText: NAME }).waitFor()
    await page.getByText(/^Ended: 1 conversation, 4 acts, \d situations; 1 failure$/).waitFor()
    expect(await cell('bot', 1).textContent()).toBe('1')
    expect((await cell('agent', 0).textContent())?.replace(/\s/g, '')).toBe('11')
    expect(await cell('agent', 0).getByRole('img', { name: 'failed' }).count()).toBe(1)
    expect(await cell('agent', 4).textContent()).toBe('')
    expect(await page.getByRole('button', { name: 'Run all' }).count()).toBe(0)

    await page.locator('.scenario-row', { hasText: NAME }).click()
    await page.locator('.source-line', { hasText: 'user: "4711"' }).waitFor()
    await page.locator('.source-line.fail').first().waitFor()
    await page.getByRole('tab', { name: 'Diagram' }).click()
    await page.locator('.run-diagram', { hasText: 'MESSAGE FROM USER' }).waitFor()
    await page.getByRole('tab', { name: 'Chat' }).click()
    await page.locator('.message.user', { hasText: '4711' }).waitFor()
    expect(await axeViolations(page)).toEqual([])

    // The page stays until a signal ends it; the exit code is that of the exploration.
    io.signal('SIGINT')
    expect(await ended).toBe(1)
  })
})

/** UI mode in Chromium: whole stories of `run --ui` and `report --open`, by mouse and by keyboard. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { finished, startRun } from '../runner/targets.ts'
import { ACCEPTED, politeTarget, scenarioFile } from '../ui-mode/ui-client.ts'
import { axeViolations, button, chromium, lowContrastInDark, open, runningAnimations } from './inspector-page.ts'

/** Only what must not come is waited for in vain. */
const scenarioOf = (name: string, steps: string, more = '') => scenarioFile(name, ACCEPTED + steps, more, '60s')
const GOODBYE = '  - expect: { message: { message: Goodbye }, within: 1s }\n'
const ADA = scenarioOf('Ada', '  - expect: { message: { message: Hello } }\n', 'tags: [smoke]\n')
const BO = scenarioOf('Bo', GOODBYE)
const WAITS = scenarioOf('Cy', '  - wait: 50s\n')
const HOSTILE = '<img src=x onerror="document.title=1">'

const FILES = { 'a.yaml': ADA, 'b.yaml': BO }

/** Starts `run --ui` with an intermediary that says "Hello". Resolves with its address. */
async function startUiMode(files: Record<string, string>, ...flags: string[]) {
  const target = await politeTarget()
  const run = startRun(files, ['.', '--ui', '--target', target.url, '--port', '0', ...flags])
  return { ...run, url: await addressIn(run.io.stdout.until(/UI mode: \S+/)) }
}

const addressIn = async (text: Promise<string>) => /UI mode: (\S+)/.exec(await text)?.[1] ?? ''

const scenario = (page: Page, name: string) => page.locator('.scenario-row', { hasText: name })
const mark = (page: Page, name: string, label: string) => scenario(page, name).getByRole('img', { name: label })
const press = (page: Page, name: string) => button(page, name).click()

/** Whether the middle of an element can be seen in every box that scrolls around it. */
function isInBox(selector: string): boolean {
  const element = document.querySelector(selector)
  if (element === null) return false
  const { left, top, height } = element.getBoundingClientRect()
  return element.contains(document.elementFromPoint(left + 20, top + height / 2))
}

async function checkTabs(page: Page): Promise<void> {
  for (const tab of ['Diagram', 'Chat', 'Failures']) {
    await page.getByRole('tab', { name: tab }).click()
    expect(await axeViolations(page)).toEqual([])
    expect(await lowContrastInDark(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  }
}

describe.skipIf(chromium === null)('UI mode', () => {
  it('lists scenarios, runs all, and shows a failure where it happened', async () => {
    const { url } = await startUiMode(FILES)
    const { page } = await open(url)
    await page.getByText('2 scenarios: 2 not run').waitFor()
    await page.locator('.source-line', { hasText: 'press: handover' }).waitFor()
    await press(page, 'Run all')
    await page.getByText('2 scenarios: 1 passed, 1 failed').waitFor()
    await page.locator('.scenario-row.selected', { hasText: 'Bo' }).waitFor()
    await page.locator('.ui-step.selected', { hasText: 'expect message' }).waitFor()
    const line = page.locator('.source-line.fail')
    expect(await line.locator('code').first().textContent()).toContain('Goodbye')
    // In a narrow column, a head is not broken within a word.
    const head = line.locator('.differences thead th', { hasText: 'expected' })
    expect(await head.evaluate(one => getComputedStyle(one).overflowWrap)).toBe('normal')
    expect(await line.locator('.differences tbody').textContent()).toBe('message"Goodbye""Hello"')
    expect(await page.locator('.ui-step.fail').textContent()).toContain('expect message')
    await line.locator('.entry-seq').click()
    await page.locator('.entry-details', { hasText: 'POST message "Hello"' }).waitFor()
    const { page: again } = await open(page.url())
    await again.locator('.entry-details', { hasText: 'POST message "Hello"' }).waitFor()
    await again.getByRole('tab', { name: 'Chat' }).click()
    await again.locator('.message.agent', { hasText: 'Hello' }).waitFor()
  })

  it('shows the failing line of an included file, and the row of the scenario, out of sight before', async () => {
    const many: Record<string, string> = {}
    for (let index = 10; index < 22; index++)
      many[`a${index}.yaml`] = scenarioFile(`Passes ${index}`, '  - check: { status: bot }\n')
    const waits = '  - wait: 1ms\n'.repeat(20)
    const { url } = await startUiMode({
      ...many,
      'z.yaml': scenarioOf('Zoe', '  - include: { file: part.yaml }\n'),
      'part.yaml': `version: 1\nkind: partial\nsteps:\n${waits}${GOODBYE.replace('1s', '3s')}`,
    })
    const { page } = await open(url, { viewport: { width: 1440, height: 500 } })
    await page.getByText('13 scenarios: 13 not run').waitFor()
    await press(page, 'Run all')
    await page.getByText('13 scenarios: 12 passed, 1 failed').waitFor()
    await page.locator('.source-name', { hasText: /part.yaml:\d+, included by z.yaml/ }).waitFor()
    const allInSight = async () => {
      for (const selector of ['.scenario-row.selected', '.ui-step.fail.selected', '.source-line.fail']) {
        await page.locator(selector).waitFor()
        await expect.poll(() => page.evaluate(isInBox, selector), { message: selector }).toBe(true)
      }
    }
    await allInSight()
    await press(page, 'Run all')
    // Selected while it runs, it is the same line before and after its failure is shown.
    await page.locator('.ui-step:not(.fail)', { hasText: 'expect message' }).click()
    await page.getByText('13 scenarios: 12 passed, 1 failed').waitFor()
    await allInSight()
    expect(await page.locator('.scenario-row.selected').textContent()).toContain('Zoe')
    const { page: later } = await open(url)
    await later.locator('.scenario-row.selected', { hasText: 'Zoe' }).waitFor()
  })

  it('stays with the scenario that a person has selected, lists equal failures first, and counts no broken file', async () => {
    const { url } = await startUiMode({
      ...FILES,
      'c.yaml': BO.replace('name: Bo', 'name: Cleo'),
      'e.yaml': 'steps: 1\n',
    })
    const { page } = await open(`${url}?scenario=Ada`)
    await page.getByText('3 scenarios: 3 not run; 1 file cannot be run').waitFor()
    const { page: other } = await open(url)
    await press(other, 'Run all')
    await other.locator('.scenario-row.selected', { hasText: /Bo|Cleo/ }).waitFor()
    await page.getByText('3 scenarios: 1 passed, 2 failed; 1 file cannot be run').waitFor()
    expect(await page.locator('.scenario-row.selected').textContent()).toContain('Ada')
    const cause = page.getByRole('region', { name: /^2 scenarios: .*message/ })
    await cause.getByText('Cleo').waitFor()
    expect(await page.locator('.scenario-name > span').allTextContents()).toEqual(['Bo', 'Cleo', 'Ada'])
    expect(await cause.getByRole('heading').textContent()).not.toContain('`')
    expect(await axeViolations(page)).toEqual([])
  })

  it('has an inspector beside it, which saves a chat among its scenarios', async () => {
    const { page } = await open((await startUiMode(FILES)).url)
    await page.getByRole('link', { name: 'Inspector' }).click()
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByLabel('Message of the user').fill('Is my parcel lost?')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Messages' }).getByText('Is my parcel lost?').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Save as test' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as test' })
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('Written to is-my-parcel-lost.yaml.').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('link', { name: 'Show it among the scenarios' }).click()
    await page.getByRole('heading', { name: 'Is my parcel lost?' }).waitFor()
    await page.getByRole('button', { name: 'Copy the place' }).waitFor()
    await page.getByRole('button', { name: 'Open in editor' }).waitFor()
    await press(page, 'Run all')
    await mark(page, 'Is my parcel lost?', 'passed').waitFor()
  })

  it('marks each step while it runs, and stops', async () => {
    const { url } = await startUiMode({ 'c.yaml': WAITS })
    const { page } = await open(url)
    await scenario(page, 'Cy').getByRole('button', { name: 'Run Cy', exact: true }).click()
    const step = page.locator('.ui-step.running', { hasText: 'wait 50s' })
    await step.waitFor()
    await page.locator('.source-line.running', { hasText: 'wait: 50s' }).waitFor()
    expect(await page.locator('.ui-step.pass').count()).toBe(2)
    expect(await runningAnimations(page)).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await runningAnimations(page)).toBe(0)
    await page.locator('.diagram-row.call', { hasText: 'POST message "Hello"' }).waitFor()
    await press(page, 'Stop')
    await page.getByText('1 scenario: 1').waitFor()
    await page.locator('.ui-step.running').waitFor({ state: 'detached' })
  })

  it('runs a watched file again when it changes, and shows why a broken one cannot be run', async () => {
    const { url, folder } = await startUiMode(FILES)
    const { page } = await open(`${url}?scenario=Bo`)
    await press(page, 'Watch all')
    await page.locator('button[aria-pressed="true"]', { hasText: 'Watch all' }).waitFor()
    writeFileSync(join(folder, 'b.yaml'), BO.replace('Goodbye', 'Hello'))
    await mark(page, 'Bo', 'passed').waitFor()
    await page.locator('.source-line.pass', { hasText: 'message: Hello' }).waitFor()
    writeFileSync(join(folder, 'b.yaml'), BO.replace('steps', 'stepps'))
    await page.locator('.scenario-problem', { hasText: 'b.yaml:4' }).waitFor()
    await mark(page, 'Bo', 'passed').waitFor()
    expect(await page.getByRole('button', { name: 'Run Bo', exact: true }).isDisabled()).toBe(true)
  })

  it('works with the keyboard alone, lists the keys, and filters by text, tag and outcome', async () => {
    const { url } = await startUiMode(FILES)
    const { page } = await open(url)
    await page.getByText('2 scenarios: 2 not run').waitFor()
    await page.keyboard.press('j')
    await page.locator('.scenario-row.selected', { hasText: 'Bo' }).waitFor()
    await page.keyboard.press('p')
    await mark(page, 'Bo', 'failed').waitFor()
    await page.locator('.failure-card').waitFor()
    await page.keyboard.press('b')
    await page.locator('.ui-step.selected', { hasText: 'expect start' }).waitFor()
    await page.keyboard.press('2')
    await page.getByText('After step 2').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Ad')
    await scenario(page, 'Bo').waitFor({ state: 'detached' })
    await page.getByText('Run 1 scenario').waitFor()
    await page.getByRole('searchbox').fill('')
    await page.getByRole('searchbox').blur()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Run the selected scenario').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('Filter by tag').selectOption('smoke')
    await scenario(page, 'Bo').waitFor({ state: 'detached' })
    await page.getByLabel('Filter by tag').selectOption('')
    await button(page, '1 not run').click()
    await scenario(page, 'Bo').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toContain('outcome=none')
  })

  it('has no violation of axe, enough contrast and no page wider than the screen, and shows names as text', async () => {
    const name = JSON.stringify(HOSTILE)
    const hostile = { 'd.yaml': scenarioFile(name, `  - user: ${name}\n${ACCEPTED}  - expect: message\n`, '', '60s') }
    const { url } = await startUiMode({ ...FILES, ...hostile, 'e.yaml': 'steps: 1\n' })
    const { page } = await open(url)
    await press(page, 'Run all')
    await page.getByText('3 scenarios: 2 passed, 1 failed').waitFor()
    for (const [width, name] of [
      [1440, 'Bo'],
      [320, HOSTILE],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${url}?scenario=${encodeURIComponent(name)}`)
      await page.locator('h2', { hasText: name }).waitFor()
      await checkTabs(page)
      expect(await page.title()).toBe('handover-sim: scenarios')
    }
  })

  it('shows a saved run with report --open, without buttons that run', async () => {
    const target = await politeTarget()
    const files = { ...FILES, 'a.yaml': `${ADA}chat: { history: [{ user: Hi }, { bot: Good morning }] }\n` }
    const run = await finished(startRun(files, ['.', '--target', target.url, '--port', '0']))
    const io = fakeIo(run.folder)
    const ended = main(['report', '--open', '--report', 'json=r.json'], {}, io)
    onTestFinished(async () => {
      io.signal('SIGINT')
      expect(await ended).toBe(1)
    })
    const { page } = await open(await addressIn(io.stdout.until(/UI mode: \S+/)))
    await page.getByText('2 scenarios: 1 passed, 1 failed').waitFor()
    await page.locator('.scenario-row.selected', { hasText: 'Bo' }).waitFor()
    await page.getByRole('tab', { name: 'Chat' }).click()
    await page.keyboard.press('k')
    await page.getByText('2 earlier messages of this chat are not shown').waitFor()
    await page.keyboard.press('j')
    await page.locator('.run-missing').waitFor({ state: 'detached' })
    await page.locator('.source-line.fail .differences').waitFor()
    await page.getByRole('heading', { name: 'Saved run' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Run|Watch|Stop)/ }).count()).toBe(0)
  })
})

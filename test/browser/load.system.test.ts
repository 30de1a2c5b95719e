/** The HTML report of `handover-sim load` in Chromium: curves, failures, contrast, small screens, hostile texts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { axeViolations, chromium, lowContrastInDark, open } from './inspector-page.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
/** The intermediary loses the space. */
const TEXT = JSON.stringify(` ${HOSTILE}`)
const PLAIN = `version: 1
name: ${JSON.stringify(HOSTILE)}
timeouts: { expect: 1s, settle: 50ms }
steps:
  - press: handover
  - agent: accept
  - expect: start
  - user: ${TEXT}
  - agent: { sees: ${TEXT} }
  - agent: { says: Hello }
  - expect: { message: { message: Hello } }
`

describe.skipIf(chromium === null)('the report of a load in a browser', () => {
  it('shows curves and the first failures, in light and dark, on a small screen too', async () => {
    const folder = folderWith({ 'plain.yaml': PLAIN })
    const port = await freePort()
    const driver = writeDriver(folder, port, 'trims')
    const target = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver]
    const flags = ['--arrivals', '3/s', '--for', '3s', '--no-own-limit', '--port', '0', '--report', 'html=load.html']
    const io = fakeIo(folder)
    expect(await main(['load', 'plain.yaml', ...target, ...flags], {}, io), io.stderr.text).toBe(1)

    const file = join(folder, 'load.html')
    const { page } = await open(pathToFileURL(file).href)
    expect(await page.title()).not.toBe('1')
    expect(readFileSync(file, 'utf8')).not.toMatch(/<(script|link|img)[^>]+https?:/)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.locator('svg').count()).toBeGreaterThan(3)
    await page.getByText('verdict.fail > 0').first().waitFor()
    for (const width of [1440, 320]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await lowContrastInDark(page)).toEqual([])
      expect(await axeViolations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    }
  })
})

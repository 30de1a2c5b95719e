/** Finds and launches Chromium; tests that need it are skipped when it is not installed. */
import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A key that scrolls must have its whole effect before the next key.
  '--disable-smooth-scrolling',
]

/**
 * Returns the path of Chromium, or null after a note on stderr. With `HANDOVER_SIM_TEST_BROWSER=required`, as in CI, tests
 * fail without it.
 */
export function findChromium(): string | null {
  const found = [process.env.CHROMIUM, ...PATHS].find(path => path !== undefined && existsSync(path))
  if (found === undefined && process.env.HANDOVER_SIM_TEST_BROWSER === 'required')
    throw new Error('Chromium is not installed, and HANDOVER_SIM_TEST_BROWSER=required: apt-get install chromium')
  if (found === undefined)
    process.stderr.write('Chromium is not installed, browser tests are skipped: apt-get install chromium\n')
  return found ?? null
}

export async function launch(executablePath: string, flags: readonly string[] = []): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] })
}

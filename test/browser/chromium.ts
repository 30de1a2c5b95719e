/** The browser of this machine, when there is one; tests that need it are skipped where there is none. */
import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Its path, or null after saying so once. */
export function findChromium(): string | null {
  const found = [process.env.CHROMIUM, ...PLACES].find(path => path !== undefined && existsSync(path))
  if (found === undefined)
    process.stderr.write('Chromium is not there: browser tests are skipped. apt-get install chromium\n')
  return found ?? null
}

export async function launch(executablePath: string): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: QUIET })
}

/** Measures the page in Chromium: its first paint beside that of an empty page, and its frames while entries arrive. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { Pool } from 'undici'
import { alternately, type Figures, fewer, firstOf } from '../rounds.ts'
import { createRow } from '../rows.ts'
import { createChats, messageTo, QUIET, startBare, startSimulator } from '../servers.ts'

const PER_SECOND = 500

export const page: Figures = {
  async page(settings) {
    const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
    if (executablePath === undefined) {
      console.error('The page is not measured, because Chromium is not installed: apt-get install chromium')
      return []
    }
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
    await using browser = await chromium.launch({ executablePath, args })
    await using simulator = await startSimulator(settings, [...QUIET, '--memory-limit', '512mb'])
    await using bare = await startBare(settings, { type: 'text/html', body: JSON.stringify('<p>An empty page</p>') })
    // The browser starts its processes with its first page.
    await paintMs(browser, bare.url)
    const urls = [bare.url, simulator.url]
    const [yardstick, ours] = await alternately(settings.rounds, urls, url => paintMs(browser, url))

    const pool = new Pool(simulator.url, { connections: 8 })
    const requests = (await createChats(simulator, 100)).map(id => firstOf(messageTo([id])))
    let next = 0
    const send = async () => (await pool.request(requests[next++ % requests.length]!)).body.dump()
    const entries = fewer(settings, 50_000, 1000)
    for (let sent = 0; sent < entries; sent += 8) await Promise.all(Array.from({ length: 8 }, send))
    await using context = await browser.newContext()
    const opened = await context.newPage()
    await opened.goto(`${simulator.url}/?all=1&wire=list`)
    await opened.getByRole('listbox', { name: 'Entries of the journal' }).getByRole('option').first().waitFor()
    const longest: number[] = []
    for (let round = 0; round < settings.rounds; round++) {
      const timer = setInterval(() => {
        for (let one = 0; one < PER_SECOND / 100; one++) void send()
      }, 10)
      const longestMs = opened.evaluate(async forMs => {
        const frame = () => new Promise(requestAnimationFrame)
        let [longest, at] = [0, await frame()]
        for (const until = at + forMs; at < until; ) {
          const before = at
          at = await frame()
          longest = Math.max(longest, at - before)
        }
        return longest
      }, settings.seconds * 1000)
      longest.push(await longestMs)
      clearInterval(timer)
    }
    await pool.close()
    const name = `page: longest frame while ${PER_SECOND} entries a second arrive beside ${entries}`
    return [
      createRow('page: first paint beside an empty page', 'ms', ours!, undefined, yardstick),
      createRow(name, 'ms', longest),
    ]
  },
}

/** Returns the time since the navigation began, with an empty cache. */
async function paintMs(browser: Browser, url: string): Promise<number> {
  await using context = await browser.newContext()
  const opened = await context.newPage()
  await opened.goto(url)
  const paint = await opened.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  return (await paint.jsonValue()) ?? Number.NaN
}

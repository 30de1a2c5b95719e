import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { elapsedMs, wallDelay } from '../../src/base/runtime/clock.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { chromium, startInspected, useBrowser } from './inspector-page.ts'

const open = useBrowser()

const ENTRIES = 50_000
const PER_SECOND = 500
const SECONDS = 4
const CHATS = 250
/** A machine that does other work draws fewer frames, so the time that the page itself computes is limited. */
const LONGEST_FRAME_MS = 5_000
const MOST_BUSY_SHARE = 0.5

/** Writes as the users of many chats. Each message is an entry, and so is the answer of the bot. */
async function createWriter(server: PlatformServer) {
  const chats = await Promise.all(Array.from({ length: CHATS }, () => server.chat()))
  let written = 0
  return async (count: number) => {
    const until = written + count
    while (written < until) await chats[written++ % CHATS]!.says(`Message ${written}`)
  }
}

/** Writes `PER_SECOND` entries a second. */
async function writeAtRate(write: (count: number) => Promise<void>): Promise<void> {
  const start = elapsedMs()
  let done = 0
  while (elapsedMs() - start < SECONDS * 1000) {
    const due = Math.floor(((elapsedMs() - start) / 1000) * (PER_SECOND / 2)) - done
    await write(due)
    done += due
    await wallDelay(10)
  }
}

interface Frames {
  readonly count: number
  readonly medianMs: number
  readonly slowestMs: number
  /** The longest time that the page worked without a pause. */
  readonly longestTaskMs: number
}

/** Measures the frames that the browser draws in the time. */
const measureFrames = (page: Page, forMs: number): Promise<Frames> =>
  page.evaluate(async duration => {
    let longestTaskMs = 0
    const observer = new PerformanceObserver(list => {
      for (const { duration: taskMs } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, taskMs)
    })
    observer.observe({ entryTypes: ['longtask'] })
    const times = await new Promise<number[]>(resolve => {
      const found: number[] = []
      const next = (at: number) => {
        found.push(at)
        if (at - found[0]! < duration) requestAnimationFrame(next)
        else resolve(found)
      }
      requestAnimationFrame(next)
    })
    observer.disconnect()
    const gaps = times.slice(1).map((at, index) => at - times[index]!)
    const sorted = gaps.toSorted((a, b) => a - b)
    return { count: gaps.length, medianMs: sorted[sorted.length >> 1]!, slowestMs: sorted.at(-1)!, longestTaskMs }
  }, forMs)

/** On a machine that does other work. Alone, the page needs less than 300 ms. */
const LATEST_PAINT_MS = 10_000

/** The processor time of the page's thread in seconds, which other programs do not change. */
async function busyTime(page: Page): Promise<() => Promise<number>> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value
  }
}

describe.skipIf(chromium === null)('the page', () => {
  it('paints early', async ({ annotate }) => {
    const server = await startInspected()
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'New chat' }).first().waitFor()
    const paint = () =>
      page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN)
    await expect.poll(paint).toBeLessThan(LATEST_PAINT_MS)
    await annotate(`first paint after ${(await paint()).toFixed(0)} ms`, 'figure')
  })

  it('draws frames while 500 entries a second arrive beside 50,000', async ({ annotate }) => {
    const server = await startInspected({ journalLimit: 2 * ENTRIES, memoryLimit: '512mb' })
    const write = await createWriter(server)
    await write((ENTRIES - CHATS) / 2)
    const { page } = await open(`${server.url}/?all=1&wire=list`)
    const list = page.getByRole('listbox', { name: 'Entries of the journal' })
    const lastRow = () => list.getByRole('option').last().getAttribute('aria-posinset')
    await expect.poll(async () => Number(await lastRow())).toBeGreaterThanOrEqual(ENTRIES)

    const busy = await busyTime(page)
    const before = await busy()
    const measured = measureFrames(page, SECONDS * 1000)
    await writeAtRate(write)
    const frames = await measured
    const busyShare = ((await busy()) - before) / SECONDS
    await expect.poll(lastRow).toBe(String(server.journal.nextSeq - 1))
    await annotate(
      `${((1000 * frames.count) / (SECONDS * 1000)).toFixed(0)} frames a second, median ${frames.medianMs.toFixed(1)} ms, ` +
        `slowest ${frames.slowestMs.toFixed(0)} ms, longest task ${frames.longestTaskMs.toFixed(0)} ms, ` +
        `busy ${(100 * busyShare).toFixed(0)}% of the time`,
      'figure',
    )
    expect(frames.slowestMs).toBeLessThan(LONGEST_FRAME_MS)
    expect(busyShare).toBeLessThan(MOST_BUSY_SHARE)
    expect(await list.getByRole('option').count()).toBeLessThan(150)

    await page.getByRole('searchbox', { name: 'Search in entries' }).fill(`Message ${ENTRIES / 4}`)
    await expect.poll(() => list.getByRole('option').count()).toBeGreaterThan(0)
    await expect.poll(() => list.getByRole('option').first().textContent()).toContain(`Message ${ENTRIES / 4}`)
  })
})

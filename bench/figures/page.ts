/** Measures the page in Chromium: its first paint beside that of an empty page, and its frames while entries arrive. */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Pool } from 'undici'
import { forChat, type RequestTemplate } from '../load.ts'
import { createRow, type Row, valueAtMost } from '../rows.ts'
import { createChats, messageTo, startBare, startSimulator } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
const PER_SECOND = 500
const TICK_MS = 10

export async function page(settings: Settings): Promise<Row[]> {
  const executablePath = PROGRAMS.find(existsSync)
  if (executablePath === undefined) {
    console.error('The page is not measured, because Chromium is not installed: apt-get install chromium')
    return []
  }
  await using browser = await chromium.launch({ executablePath, args: FLAGS })
  return [await firstPaint(settings, browser), ...(await frames(settings, browser))]
}

async function firstPaint(settings: Settings, browser: Browser): Promise<Row> {
  await using simulator = await startSimulator(settings)
  await using bare = await startBare(settings, {
    type: 'text/html',
    body: JSON.stringify('<p>An empty page</p>'),
  })
  // The browser starts its processes with its first page.
  await paintOf(browser, bare.url)
  const values: number[] = []
  const yardstick: number[] = []
  for (let round = 0; round < settings.rounds; round++) {
    yardstick.push(await paintOf(browser, bare.url))
    values.push(await paintOf(browser, simulator.url))
  }
  return createRow({ figure: 'page', name: 'page: first paint beside an empty page', unit: 'ms', values, yardstick })
}

/** In milliseconds since the navigation began, with an empty cache. */
async function paintOf(browser: Browser, url: string): Promise<number> {
  await using context = await browser.newContext()
  const opened = await context.newPage()
  await opened.goto(url)
  return await opened.evaluate(
    () =>
      new Promise<number>(painted => {
        new PerformanceObserver(list => {
          for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') painted(startTime)
        }).observe({ type: 'paint', buffered: true })
      }),
  )
}

interface Frames {
  readonly medianMs: number
  readonly slowestMs: number
}

async function frames(settings: Settings, browser: Browser): Promise<Row[]> {
  const entries = fewer(settings, 50_000, 1000)
  await using simulator = await startSimulator(settings, { flags: ['--output', 'quiet', '--memory-limit', '512mb'] })
  const request = messageTo(await createChats(simulator, 100))
  const pool = new Pool(simulator.url, { connections: 8 })
  let sent = 0
  const send = async () => {
    const { body } = await pool.request(requestFor(request, sent++))
    await body.dump()
  }
  const sendMany = async () => {
    while (sent < entries) await send()
  }
  await Promise.all(Array.from({ length: 8 }, sendMany))
  await using context = await browser.newContext()
  const opened = await context.newPage()
  await opened.goto(`${simulator.url}/?all=1&wire=list`)
  await opened.getByRole('listbox', { name: 'Entries of the journal' }).getByRole('option').first().waitFor()
  const found: Frames[] = []
  for (let round = 0; round < settings.rounds; round++) {
    const measured = measureFrames(opened, settings.seconds * 1000)
    const timer = setInterval(() => {
      for (let one = 0; one < (PER_SECOND * TICK_MS) / 1000; one++) void send()
    }, TICK_MS)
    found.push(await measured)
    clearInterval(timer)
  }
  await pool.close()
  const name = `page: %s frame while ${PER_SECOND} entries a second arrive beside ${entries}`
  const row = (kind: string, values: readonly number[]) =>
    ({ figure: 'page', name: name.replace('%s', kind), unit: 'ms', values }) as const
  return [
    createRow({
      ...row(
        'median',
        found.map(one => one.medianMs),
      ),
      goal: valueAtMost(17),
    }),
    createRow(
      row(
        'longest',
        found.map(one => one.slowestMs),
      ),
    ),
  ]
}

function requestFor(request: RequestTemplate, index: number) {
  const { path, body } = forChat(request, request.chats?.[index % request.chats.length])
  return { method: 'POST', path, headers: request.headers ?? {}, body } as const
}

const measureFrames = (opened: Page, forMs: number): Promise<Frames> =>
  opened.evaluate(async duration => {
    const times = await new Promise<number[]>(resolve => {
      const found: number[] = []
      const next = (at: number) => {
        found.push(at)
        if (at - (found[0] ?? at) < duration) requestAnimationFrame(next)
        else resolve(found)
      }
      requestAnimationFrame(next)
    })
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at))
    const sorted = gaps.toSorted((a, b) => a - b)
    return { medianMs: sorted[sorted.length >> 1] ?? 0, slowestMs: sorted.at(-1) ?? 0 }
  }, forMs)

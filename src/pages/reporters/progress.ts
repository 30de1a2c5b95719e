/**
 * Shows the progress of a run or a certification: on a terminal one line that changes; elsewhere a line for each scenario
 * or check that does not pass, for each long wait, and what still runs after ten seconds without a line. The report has
 * those that pass.
 * Writes at most ten times a second.
 */
import { elapsedMs, type Timer, wallTimer } from '../../base/runtime/clock.ts'
import { formatMs, shorten, visible, widthOf } from '../../base/text/terminal-text.ts'
import { type ColorLevel, createTheme, OUTCOME_STYLES } from './theme.ts'

export interface ProgressOptions {
  readonly output: { write(text: string): void }
  /** Whether it is a terminal, whose line can be drawn again. */
  readonly isTTY: boolean
  /** Whether a report with every cause follows in the same terminal or log: then only the names of failures are said. */
  readonly isReported?: boolean
  readonly colorLevel: ColorLevel
  readonly columns: number
  /** Whether something else has the terminal, such as a question to a person: nothing is written meanwhile. */
  readonly isPaused?: () => boolean
  /** The wall, for tests. */
  readonly now?: () => number
  readonly after?: (delayMs: number, run: () => void) => Timer
}

/** The end of a scenario or a check. */
export interface FinishedItem {
  /** That it started with. */
  readonly name: string
  /** Shown in place of the name. */
  readonly title?: string
  readonly outcome: keyof typeof OUTCOME_STYLES
  readonly durationMs: number
  /** Why it failed; empty when it passed. */
  readonly cause: string
}

export type Progress = ReturnType<typeof createProgress>

interface Waiting {
  readonly what: string
  readonly sinceMs: number
  readonly atMostMs: number | null
  reported: boolean
}

const MAX_CAUSE_COLUMNS = 200
const TICK_MS = 100
const LONG_WAIT_MS = 5000
const QUIET_MS = 10_000
const CLEAR = '\r\u001b[2K'

export function createProgress(options: ProgressOptions) {
  const { output, isTTY, columns, now = elapsedMs, after = wallTimer } = options
  const theme = createTheme(options.colorLevel)
  let total = 0
  let done = 0
  let failed = 0
  /** By name, the one that began first at the front. */
  const running = new Map<string, Waiting | null>()
  /** Lines that are written with the next tick. */
  let lines = ''
  /** When lines were written last, and how many had ended then. */
  let written = { atMs: now(), done }
  let timer: Timer | null = null
  let isDrawn = false

  /** Arms one timer for everything that runs. */
  function arm(): void {
    timer ??= after(TICK_MS, () => {
      timer = null
      tick()
      if (running.size > 0) arm()
    })
  }

  function tick(): void {
    if (options.isPaused?.()) return
    if (isTTY) return draw()
    for (const [name, waiting] of running) {
      if (waiting === null || waiting.reported || now() - waiting.sinceMs < LONG_WAIT_MS) continue
      waiting.reported = true
      lines += `${counter()}  ${visible(name)}: ${visible(waiting.what)}${sinceText(waiting)}\n`
    }
    if (lines === '' && done > written.done && now() - written.atMs >= QUIET_MS)
      lines = `${before()}${stillRunning()}\n`
    writeLines()
  }

  function writeLines(): void {
    if (lines === '') return
    output.write(lines)
    written = { atMs: now(), done }
    lines = ''
  }

  /** Shows the one that waits longest, and how many others run. Shortens the name, never the time. */
  function draw(): void {
    const nowMs = now()
    const [first, ...others] = [...running].sort(([, a], [, b]) => (a?.sinceMs ?? nowMs) - (b?.sinceMs ?? nowMs))
    if (first === undefined) return clear()
    const [name, waiting] = first
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const end = `${waiting === null ? '' : sinceText(waiting)}${more}`
    const text = waiting === null ? visible(name) : `${visible(name)}: ${visible(waiting.what)}`
    const free = columns - 1 - widthOf(before())
    const line = shorten(`${shorten(text, Math.max(20, free - widthOf(end)))}${end}`, free)
    output.write(`${CLEAR}${theme.faint(`${before()}${line}`)}`)
    isDrawn = true
  }

  function clear(): void {
    if (isDrawn) output.write(CLEAR)
    isDrawn = false
  }

  const counter = () => `${String(done).padStart(String(total).length)}/${total}`

  /** `RST-01 still runs`, `RST-01 and 3 more still run`. */
  function stillRunning(): string {
    const [first = '', ...others] = running.keys()
    return others.length === 0
      ? `${visible(first)} still runs`
      : `${visible(first)} and ${others.length} more still run`
  }

  const before = () => `${counter()}${failed === 0 ? '' : `, ${failed} failed`}  `

  /** `, 1.2 s of 5.0 s`. */
  function sinceText({ sinceMs, atMostMs }: Waiting): string {
    const limit = atMostMs === null ? '' : ` of ${formatMs(atMostMs)}`
    return `, ${formatMs(Math.max(0, now() - sinceMs))}${limit}`
  }

  const wait = (name: string, what: string, sinceMs: number, atMostMs: number | null) =>
    void running.set(name, { what, sinceMs, atMostMs, reported: false })

  return {
    planned(count: number): void {
      total = count
    },
    started(name: string): void {
      running.set(name, null)
      arm()
    },
    /** A step has begun: what is waited for is its end. */
    step: (name: string, { number, label }: { readonly number: number; readonly label: string }) =>
      wait(name, `step ${number}: ${label}`, now(), null),
    /** `start in chat main`, since a moment of `elapsedMs()`, for at most so long. */
    waiting: (name: string, what: string, sinceMs: number, atMostMs?: number) =>
      wait(name, `waiting for ${what}`, sinceMs, atMostMs ?? null),
    /** The steps are over, and only late calls are waited for. */
    listening: (name: string) => wait(name, 'waiting for late calls', now(), null),
    finished({ name, title = name, outcome, durationMs, cause }: FinishedItem): void {
      running.delete(name)
      done++
      const isFailure = outcome === 'fail' || outcome === 'error'
      if (isFailure) failed++
      if (!isTTY && outcome !== 'pass' && (isFailure || !options.isReported)) {
        const { word, shade } = OUTCOME_STYLES[outcome]
        const because = cause === '' || options.isReported ? '' : `: ${shorten(visible(cause), MAX_CAUSE_COLUMNS)}`
        lines += `${counter()}  ${theme[shade](word)} ${visible(title)}, ${formatMs(durationMs)}${because}\n`
      }
      if (running.size === 0) tick()
    },
    /** Leaves nothing on the line, and no timer. */
    stop(): void {
      timer?.cancel()
      timer = null
      running.clear()
      writeLines()
      clear()
    },
  }
}

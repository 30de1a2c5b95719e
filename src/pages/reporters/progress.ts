/**
 * Shows the progress of a run: on a terminal one line that changes, elsewhere a line for each scenario that ends and one
 * for each wait that takes long. Writes at most ten times a second, because each write takes as long as a call.
 */

import { elapsedMs, type Timer, wallTimer } from '../../base/runtime/clock.ts'
import { formatMs, shorten, visible, widthOf } from '../../base/text/terminal-text.ts'
import type { ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { causeOf } from './failures.ts'
import { type ColorLevel, createTheme, OUTCOME_STYLES, type Theme } from './theme.ts'

export interface ProgressOptions {
  readonly output: { write(text: string): void }
  readonly isTTY: boolean
  readonly colorLevel: ColorLevel
  readonly columns: number
  /** The wall, for tests. */
  readonly now?: () => number
  readonly after?: (delayMs: number, run: () => void) => Timer
}

export interface Progress {
  planned(total: number): void
  started(name: string): void
  /** A step has begun: what is waited for is its end. */
  step(name: string, step: { readonly number: number; readonly label: string }): void
  /** `start in chat main`, since a moment of `elapsedMs()`, for at most so long. A function makes the text when it is shown. */
  waiting(name: string, what: Lazy<string>, sinceMs: number, atMostMs?: number): void
  /** The steps are over: nothing is waited for but what comes too late. */
  listening(name: string): void
  finished(scenario: Pick<ScenarioReport, 'name' | 'outcome' | 'reason' | 'durationMs' | 'failures'>): void
  /** Leaves nothing on the line, and no timer. */
  stop(): void
}

type Lazy<Value extends string> = Value | (() => Value)

interface Waiting {
  readonly what: () => string
  readonly sinceMs: number
  readonly atMostMs: number | null
  reported: boolean
}

interface State {
  total: number
  done: number
  failed: number
  /** By name, the one that began first at the front. */
  readonly running: Map<string, Waiting | null>
  /** Lines that are written with the next tick. */
  lines: string
  timer: Timer | null
  drawn: boolean
}

type ProgressContext = Required<ProgressOptions> & { readonly theme: Theme }

const MAX_CAUSE_COLUMNS = 200
const TICK_MS = 100
const LONG_WAIT_MS = 5000
const CLEAR = '\r\u001b[2K'

export function createProgress(options: ProgressOptions): Progress {
  const context: ProgressContext = {
    now: elapsedMs,
    after: wallTimer,
    ...options,
    theme: createTheme(options.colorLevel),
  }
  const state: State = { total: 0, done: 0, failed: 0, running: new Map(), lines: '', timer: null, drawn: false }
  const wait = (name: string, what: () => string, sinceMs: number, atMostMs: number | null) =>
    state.running.set(name, { what, sinceMs, atMostMs, reported: false })
  return {
    planned(total) {
      state.total = total
    },
    started(name) {
      state.running.set(name, null)
      arm(context, state)
    },
    step: (name, { number, label }) => void wait(name, () => `step ${number}: ${label}`, context.now(), null),
    waiting: (name, what, sinceMs, atMostMs) =>
      void wait(name, () => `waiting for ${typeof what === 'string' ? what : what()}`, sinceMs, atMostMs ?? null),
    listening: name => void wait(name, () => 'waiting for late calls', context.now(), null),
    finished: scenario => finish(context, state, scenario),
    stop() {
      state.timer?.cancel()
      state.timer = null
      state.running.clear()
      writeLines(context, state)
      clear(context, state)
    },
  }
}

/** Arms one timer for all scenarios, as long as one runs. */
function arm(context: ProgressContext, state: State): void {
  if (state.timer !== null) return
  state.timer = context.after(TICK_MS, () => {
    state.timer = null
    tick(context, state)
    if (state.running.size > 0) arm(context, state)
  })
}

function tick(context: ProgressContext, state: State): void {
  if (context.isTTY) return redraw(context, state)
  reportLongWaits(context, state)
  writeLines(context, state)
}

function writeLines({ output }: ProgressContext, state: State): void {
  if (state.lines !== '') output.write(state.lines)
  state.lines = ''
}

function finish(context: ProgressContext, state: State, scenario: Parameters<Progress['finished']>[0]): void {
  state.running.delete(scenario.name)
  state.done++
  if (scenario.outcome === 'fail' || scenario.outcome === 'error') state.failed++
  if (!context.isTTY) state.lines += `${counter(state)}  ${endLine(context, scenario)}\n`
  if (state.running.size === 0) tick(context, state)
}

function endLine(
  { theme }: ProgressContext,
  { name, outcome, reason, durationMs, failures }: Parameters<Progress['finished']>[0],
) {
  const { word, shade } = OUTCOME_STYLES[outcome]
  const cause = outcome === 'pass' ? '' : causeOf({ failures, reason })
  const because = cause === '' ? '' : `: ${shorten(visible(cause), MAX_CAUSE_COLUMNS)}`
  return `${theme[shade](word)} ${visible(name)}, ${formatMs(durationMs)}${because}`
}

const counter = ({ done, total }: State) => `${String(done).padStart(String(total).length)}/${total}`

function reportLongWaits(context: ProgressContext, state: State): void {
  for (const [name, waiting] of state.running) {
    if (waiting === null || waiting.reported || context.now() - waiting.sinceMs < LONG_WAIT_MS) continue
    waiting.reported = true
    state.lines += `${counter(state)}  ${visible(name)}: ${waitingText(waiting, context.now())}\n`
  }
}

const waitingText = (waiting: Waiting, nowMs: number): string =>
  `${visible(waiting.what())}${sinceText(waiting, nowMs)}`

/** `, 1.2 s of 5.0 s`. */
function sinceText({ sinceMs, atMostMs }: Waiting, nowMs: number): string {
  const bound = atMostMs === null ? '' : ` of ${formatMs(atMostMs)}`
  return `, ${formatMs(Math.max(0, nowMs - sinceMs))}${bound}`
}

function redraw(context: ProgressContext, state: State): void {
  if (state.running.size === 0) return clear(context, state)
  const failed = state.failed === 0 ? '' : `, ${state.failed} failed`
  const before = `${counter(state)}${failed}  `
  const text = `${before}${current(state, context.now(), context.columns - 1 - widthOf(before))}`
  context.output.write(`${CLEAR}${context.theme.faint(text)}`)
  state.drawn = true
}

/** Shows the scenario that waits longest, and how many others run. Shortens the name, never the time. */
function current({ running }: State, nowMs: number, columns: number): string {
  const [first, ...rest] = [...running].sort(([, a], [, b]) => (a?.sinceMs ?? nowMs) - (b?.sinceMs ?? nowMs))
  if (first === undefined) return ''
  const [name, waiting] = first
  const others = rest.length === 0 ? '' : ` (and ${rest.length} more)`
  const end = `${waiting === null ? '' : sinceText(waiting, nowMs)}${others}`
  const text = waiting === null ? visible(name) : `${visible(name)}: ${visible(waiting.what())}`
  return shorten(`${shorten(text, Math.max(20, columns - widthOf(end)))}${end}`, columns)
}

function clear(context: ProgressContext, state: State): void {
  if (state.drawn) context.output.write(CLEAR)
  state.drawn = false
}

/** Renders journal entries as a log for people. */
import { Chalk, type ChalkInstance } from 'chalk'
import { backgroundTimer } from '../../base/runtime/clock.ts'
import { counted } from '../../base/text/quantities.ts'
import { pad, quote, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { deliveryHint } from '../../platform/wording/hints.ts'
import { describeEntry } from './log-entries.ts'
import { isShown, type LogStyle, looksWrong } from './log-filter.ts'
import { describeLateAnswer, isManual, type Level, type LogDetail, type LogLine } from './log-webhooks.ts'

export interface LogOptions {
  readonly style: LogStyle
  /** Chalk's: 0 is none. */
  readonly colorLevel: 0 | 1 | 2 | 3
  /** Default 100. */
  readonly columns?: number
  /** What is rendered in place of an entry that is shown. */
  readonly present?: (entry: Entry) => Entry
}

export interface Log {
  /** The lines of one more entry, with line ends; empty when the style hides it. */
  (entry: Entry): string
  /** Remembers of an entry that is not shown what later lines need. */
  skip(entry: Entry): void
  /** A line without an entry. */
  renderText(text: string): string
}

const LANGUAGE_COLUMNS = 5
const WHO_COLUMNS = 'intermediary -> platform'.length
const LEFT_COLUMNS = 'HH:MM:SS 12345678 '.length + LANGUAGE_COLUMNS + 1
const WHAT_AT = LEFT_COLUMNS + WHO_COLUMNS + 2
const NARROWEST = 40
const LONGEST_WHAT = 400

const textColumns = (columns: number) => Math.max(NARROWEST, columns)

interface Memory {
  readonly languages: Map<string, string>
  readonly hinted: Set<string>
  /** The event shown last, when its answer can stand right below it. */
  open: string | null
}

export function createLog(options: LogOptions): Log {
  const paint = painter(new Chalk({ level: options.colorLevel }))
  const columns = options.columns ?? 100
  const memory: Memory = { languages: new Map(), hinted: new Set(), open: null }
  const { style, present = entry => entry } = options
  const render = (at: Placed, line: LogLine) =>
    style === 'compact' ? compact(at, line, memory, paint) : pretty(at, line, memory, { paint, columns })

  function renderEntry(given: Entry): string {
    learn(memory, given)
    if (!isShown(given, style)) return ''
    const entry = present(given)
    const place = style === 'pretty' ? placeOf(memory, entry) : 'alone'
    const line = place === 'later' && entry.kind === 'delivery' ? describeLateAnswer(entry) : describeEntry(entry)
    const full = withHint(memory, entry, line)
    return place === 'below' ? detailsText(full, { paint, columns }) : render(entry, full)
  }
  function renderText(text: string): string {
    memory.open = null
    return `${paint.faint(`${' '.repeat(LEFT_COLUMNS)}${text}`)}\n`
  }
  return Object.assign(renderEntry, { skip: (entry: Entry) => learn(memory, entry), renderText })
}

/** What the left columns of a line show. */
type Placed = Pick<Entry, 'time' | 'chat_id'>

/** Of the latest chats, so that a long series of chats needs no memory. */
const MOST_LANGUAGES = 1000

function learn({ languages }: Memory, entry: Entry): void {
  if (entry.kind !== 'note' || entry.note !== 'chat_created') return
  languages.set(entry.chat_id ?? '', String(entry.language))
  for (const oldest of languages.keys()) {
    if (languages.size <= MOST_LANGUAGES) break
    languages.delete(oldest)
  }
}

function withHint({ hinted }: Memory, entry: Entry, line: LogLine): LogLine {
  const hint = entry.kind === 'delivery' ? deliveryHint(entry) : null
  if (hint === null || hinted.has(hint.cause)) return line
  hinted.add(hint.cause)
  return { ...line, details: [...(line.details ?? []), { label: 'hint', text: hint.text, level: 'hint' }] }
}

const left = (entry: Placed, { languages }: Memory): string => {
  const chat = visible(entry.chat_id ?? '').slice(0, 8)
  const language = shorten(visible(languages.get(entry.chat_id ?? '') ?? ''), LANGUAGE_COLUMNS)
  return `${entry.time.slice(11, 19)} ${pad(chat, 8)} ${pad(language, LANGUAGE_COLUMNS)} `
}

type Paint = Record<Level | 'faint', (text: string) => string>

const painter = (chalk: ChalkInstance): Paint => ({
  plain: text => text,
  faint: chalk.dim,
  good: chalk.green,
  warn: chalk.yellow,
  bad: chalk.red,
  hint: chalk.cyan,
})

interface Layout {
  readonly paint: Paint
  readonly columns: number
}

/** The first answer to an event is printed below it, unless another entry came between; then it names the event. */
function placeOf(memory: Memory, entry: Entry): 'alone' | 'below' | 'later' {
  const { open } = memory
  memory.open = entry.kind === 'event' ? entry.delivery_id : null
  if (entry.kind !== 'delivery' || entry.attempt > 1 || isManual(entry)) return 'alone'
  return open === entry.delivery_id ? 'below' : 'later'
}

function pretty(entry: Placed, line: LogLine, memory: Memory, layout: Layout): string {
  const head = `${layout.paint.faint(left(entry, memory))}${pad(line.direction, WHO_COLUMNS)}  `
  return `${head}${whatText(line, layout.columns - WHAT_AT)}\n${detailsText(line, layout)}`
}

const detailsText = (line: LogLine, layout: Layout) =>
  (line.details ?? []).map(detail => detailText(detail, layout)).join('')

function whatText({ what, quoted }: LogLine, columns: number): string {
  if (quoted === undefined)
    return wrap(shorten(what, LONGEST_WHAT), textColumns(columns)).join(`\n${' '.repeat(WHAT_AT)}`)
  return `${what} ${quote(quoted, columns - widthOf(what) - 1)}`
}

function detailText({ label, text, level }: LogDetail, { paint, columns }: Layout): string {
  const lines = wrap(text, textColumns(columns - WHAT_AT))
  const margin = ' '.repeat(LEFT_COLUMNS)
  const labels = lines.map((_, index) => pad(index === 0 ? label : '', WHO_COLUMNS))
  return lines.map((one, index) => `${margin}${paint[level](`${labels[index]}  ${one}`.trimEnd())}\n`).join('')
}

const SHORT_QUOTE = 40

/** One entry on one line of any length, for `grep`. */
function compact(entry: Placed, line: LogLine, memory: Memory, paint: Paint): string {
  const quoted = line.quoted === undefined ? '' : ` ${quote(line.quoted, SHORT_QUOTE)}`
  const details = (line.details ?? []).map(({ label, shortLabel = label, text, level }) =>
    paint[level](`${shortLabel} ${text}`),
  )
  const rest = details.length === 0 ? '' : `: ${details.join('; ')}`
  return `${paint.faint(left(entry, memory))}${line.direction} ${line.what}${quoted}${rest}\n`
}

export interface LimitedLogOptions extends LogOptions {
  readonly write: (text: string) => void
  /** Tests replace it. */
  readonly startTimer?: typeof backgroundTimer
}

/** How many entries of a second are shown, and how many more when they look wrong. */
const MAX_ENTRIES = 50
const MAX_PROBLEMS = 10

/** Limits the log to what a person can read: the first entries of a second, then one line that counts the others. */
export function createLimitedLog({ write, startTimer = backgroundTimer, ...options }: LimitedLogOptions) {
  const log = createLog(options)
  let second: { cancel(): void } | null = null
  let shown = 0
  const hidden = { calls: 0, others: 0, wrong: 0 }

  /** Begins the next second only with its first entry. */
  function endSecond(): void {
    second?.cancel()
    second = null
    shown = 0
    const { calls, others, wrong } = hidden
    Object.assign(hidden, { calls: 0, others: 0, wrong: 0 })
    if (calls + others === 0) return
    const what = `not shown ${counted(calls, 'call')}, ${others} other ${others === 1 ? 'entry' : 'entries'}`
    write(log.renderText(wrong === 0 ? what : `${what}: ${wrong} of them failed or have a finding`))
  }

  return {
    show(entry: Entry): void {
      if (!isShown(entry, options.style)) return log.skip(entry)
      second ??= startTimer(1000, endSecond)
      const isWrong = looksWrong(entry)
      if (shown < (isWrong ? MAX_ENTRIES + MAX_PROBLEMS : MAX_ENTRIES)) {
        shown++
        return write(log(entry))
      }
      log.skip(entry)
      hidden[entry.kind === 'api' ? 'calls' : 'others']++
      if (isWrong) hidden.wrong++
    },
    end: endSecond,
  }
}

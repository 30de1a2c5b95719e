/** Renders journal entries as a log for people. */
import { backgroundTimer } from '../../base/runtime/clock.ts'
import { counted } from '../../base/text/quantities.ts'
import { pad, quote, shorten, visible, widthOf, wrap } from '../../base/text/terminal-text.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { deliveryHint } from '../../platform/wording/hints.ts'
import { describeEntry, describeLateAnswer, isManual, type LogDetail, type LogLine } from './log-entries.ts'
import { isShown, type LogStyle, looksWrong } from './log-filter.ts'
import { type ColorLevel, createTheme } from './theme.ts'

export interface LogOptions {
  readonly style: LogStyle
  readonly colorLevel: ColorLevel
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
const MIN_COLUMNS = 40
const MAX_WHAT_CHARS = 400
const SHORT_QUOTE = 40
/** Of the latest chats, so that a long series of chats needs no memory. */
const MAX_LANGUAGES = 1000

export function createLog({ style, colorLevel, columns = 100, present = entry => entry }: LogOptions): Log {
  const theme = createTheme(colorLevel)
  const free = Math.max(MIN_COLUMNS, columns - WHAT_AT)
  const languages = new Map<string, string>()
  const hinted = new Set<string>()
  const shownAssumptions = new Set<string>()
  /** The event shown last, when its answer can stand right below it. */
  let open: string | null = null

  function rememberLanguage(entry: Entry): void {
    if (entry.kind !== 'note' || entry.note !== 'chat_created') return
    languages.set(entry.chat_id ?? '', String(entry.language))
    for (const oldest of languages.keys()) {
      if (languages.size <= MAX_LANGUAGES) break
      languages.delete(oldest)
    }
  }

  function renderEntry(given: Entry): string {
    rememberLanguage(given)
    if (!isShown(given, style)) return ''
    const entry = present(given)
    const place = style === 'pretty' ? placeOf(entry) : 'alone'
    const line =
      place === 'later' && entry.kind === 'delivery'
        ? describeLateAnswer(entry)
        : describeEntry(entry, shownAssumptions)
    const details = [...(line.details ?? [])]
    const hint = entry.kind === 'delivery' && entry.probe === undefined ? deliveryHint(entry) : null
    if (hint !== null && !hinted.has(hint.cause)) {
      hinted.add(hint.cause)
      details.push({ label: 'hint', text: hint.text, level: 'hint' })
    }
    if (style === 'compact') return compact(entry, line, details)
    const below = details.map(detailText).join('')
    return place === 'below' ? below : `${pretty(entry, line)}${below}`
  }

  /** The first answer to an event is printed below it, unless another entry came between; then it names the event. */
  function placeOf(entry: Entry): 'alone' | 'below' | 'later' {
    const last = open
    open = entry.kind === 'event' ? entry.delivery_id : null
    if (entry.kind !== 'delivery' || entry.attempt > 1 || isManual(entry)) return 'alone'
    return last === entry.delivery_id ? 'below' : 'later'
  }

  /** Time, chat and language. */
  function leftColumns({ chat_id = '', time }: Entry): string {
    const chat = visible(chat_id).slice(0, 8)
    const language = shorten(visible(languages.get(chat_id) ?? ''), LANGUAGE_COLUMNS)
    return theme.faint(`${time.slice(11, 19)} ${pad(chat, 8)} ${pad(language, LANGUAGE_COLUMNS)} `)
  }

  function pretty(entry: Entry, { direction, what, quoted }: LogLine): string {
    const text =
      quoted === undefined
        ? wrap(shorten(what, MAX_WHAT_CHARS), free).join(`\n${' '.repeat(WHAT_AT)}`)
        : `${what} ${quote(quoted, columns - WHAT_AT - widthOf(what) - 1)}`
    return `${leftColumns(entry)}${pad(direction, WHO_COLUMNS)}  ${text}\n`
  }

  function detailText({ label, text, level }: LogDetail): string {
    const lines = wrap(text, free).map((line, index) => {
      const shown = `${pad(index === 0 ? label : '', WHO_COLUMNS)}  ${line}`.trimEnd()
      return `${' '.repeat(LEFT_COLUMNS)}${theme[level](shown)}\n`
    })
    return lines.join('')
  }

  /** One entry on one line of any length, for `grep`. */
  function compact(entry: Entry, { direction, what, quoted }: LogLine, details: readonly LogDetail[]): string {
    const words = quoted === undefined ? '' : ` ${quote(quoted, SHORT_QUOTE)}`
    const texts = details.map(({ label, shortLabel = label, text, level }) => theme[level](`${shortLabel} ${text}`))
    const rest = texts.length === 0 ? '' : `: ${texts.join('; ')}`
    return `${leftColumns(entry)}${direction} ${what}${words}${rest}\n`
  }

  return Object.assign(renderEntry, {
    skip: rememberLanguage,
    renderText(text: string): string {
      open = null
      return `${theme.faint(`${' '.repeat(LEFT_COLUMNS)}${text}`)}\n`
    },
  })
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

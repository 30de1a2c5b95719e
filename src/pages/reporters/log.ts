/** Renders journal entries as a log for people. */
import { backgroundTimer } from '../../base/runtime/clock.ts'
import { counted } from '../../base/text/quantities.ts'
import { pad, shorten, visible, wrap } from '../../base/text/terminal-text.ts'
import { type EntryLine, labelOf, lineOf } from '../../evaluation/timeline/entry-line.ts'
import { isSignedWrong, problemIn } from '../../evaluation/timeline/problems.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { assumedIn } from '../../platform/wording/entry.ts'
import { deliveryHint, explainEntry, isAcceptedForgery } from '../../platform/wording/hints.ts'
import { isShown, type LogStyle, looksWrong } from './log-filter.ts'
import { type ColorLevel, createTheme, type Shade } from './theme.ts'

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

/** A line below the one of its entry. */
interface LogDetail {
  /** `answer 200`, `no answer`, `finding R-BTN`, `hint`. */
  readonly label: string
  readonly text: string
  readonly level: Shade
}

const LANGUAGE_COLUMNS = 5
const WHO_COLUMNS = 'intermediary -> platform'.length
const LEFT_COLUMNS = 'HH:MM:SS 12345678 '.length + LANGUAGE_COLUMNS + 1
const WHAT_AT = LEFT_COLUMNS + WHO_COLUMNS + 2
const MIN_COLUMNS = 40
const MAX_WHAT_CHARS = 400
const MAX_BODY_CHARS = 160
const MAX_ASSUMPTION_CHARS = 60
/** More than there are, with the values that a session gives them. */
const MAX_ASSUMPTIONS = 1000
const COMPACT_COLUMNS = 80
/** Of the latest chats, so that a long series of chats needs no memory. */
const MAX_LANGUAGES = 1000

export function createLog({ style, colorLevel, columns = 100, present = entry => entry }: LogOptions): Log {
  const theme = createTheme(colorLevel)
  const free = Math.max(MIN_COLUMNS, columns - WHAT_AT)
  const languages = new Map<string, string>()
  const hinted = new Set<string>()
  /** `name=value` of the lines before. */
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
    const line = lineOf(entry)
    const details = detailsOf(entry, line)
    if (style === 'compact') {
      const texts = details.map(({ label, text, level }) => theme[level](`${label.replace('answer ', '')} ${text}`))
      const rest = texts.length === 0 ? '' : `: ${texts.join('; ')}`
      return `${leftColumns(entry)}${directionOf(line)} ${labelOf(line, 'wide', COMPACT_COLUMNS)}${rest}\n`
    }
    const place = placeOf(entry)
    const [answer, ...others] = details
    if (place === 'later' && answer !== undefined && others.length === 0) {
      const what = `${answer.label} to ${line.what}${line.marks ?? ''}, ${answer.text}`
      return pretty(entry, { ...line, from: line.to, to: line.from, what, words: undefined, marks: '' })
    }
    const below = details.map(detailText).join('')
    return place === 'below' ? below : `${pretty(entry, line)}${below}`
  }

  /** The first answer to an event is printed below it, unless another entry came between; then it names the event. */
  function placeOf(entry: Entry): 'alone' | 'below' | 'later' {
    const last = open
    open = entry.kind === 'event' ? entry.delivery_id : null
    if (entry.kind !== 'delivery' || entry.attempt > 1 || entry.triggered || entry.resent) return 'alone'
    return last === entry.delivery_id ? 'below' : 'later'
  }

  /** The answer, why it is one, what to try, and findings. */
  function detailsOf(entry: Entry, { answer }: EntryLine): LogDetail[] {
    if (answer === undefined) return []
    const label = /^\d/.test(answer.head) ? `answer ${answer.head}` : answer.head
    const assumed = entry.kind === 'api' ? assumedFirst(entry) : ''
    const text = assumed === '' ? answer.long : `${answer.long}, assumed ${assumed}`
    const details: LogDetail[] = [{ label, text, level: answerLevel(entry) }]
    if (entry.kind === 'api') {
      const { why, hint } = explainEntry(entry) ?? {}
      if (why) details.push({ label: 'because', text: visible(why), level: 'bad' })
      if (hint) details.push({ label: 'hint', text: visible(hint), level: 'hint' })
      for (const { rule, message } of entry.findings)
        details.push({ label: `finding ${rule}`, text: visible(message), level: 'warn' })
    }
    if (entry.kind !== 'delivery' || entry.probe !== undefined) return details
    if (entry.outcome === 'failed') {
      details.push({ label: 'sent to', text: shorten(visible(entry.url ?? ''), 120), level: 'plain' })
      // The body has the receiver's own explanation.
      const body = entry.response?.body.trim() ?? ''
      if (body !== '') details.push({ label: 'body', text: shorten(visible(body), MAX_BODY_CHARS), level: 'plain' })
    }
    if (isSignedWrong(entry)) details.push({ label: 'signature', text: 'invalid with the given key', level: 'bad' })
    const forgery = isAcceptedForgery(entry) ? explainEntry(entry) : null
    if (forgery !== null) details.push({ label: 'because', text: forgery.why ?? '', level: 'bad' })
    const hint = forgery === null ? deliveryHint(entry) : { cause: 'accepted forgery', text: forgery.hint ?? '' }
    if (hint !== null && !hinted.has(hint.cause)) {
      hinted.add(hint.cause)
      details.push({ label: 'hint', text: hint.text, level: 'hint' })
    }
    return details
  }

  /** The assumptions behind an answer that no line before has shown. */
  function assumedFirst(entry: EntryOf<'api'>): string {
    const assumed: string[] = []
    for (const assumption of assumedIn(entry)) {
      const text = shorten(visible(assumption), MAX_ASSUMPTION_CHARS)
      if (shownAssumptions.has(text) || shownAssumptions.size >= MAX_ASSUMPTIONS) continue
      shownAssumptions.add(text)
      assumed.push(text)
    }
    return assumed.join(', ')
  }

  /** Time, chat and language. */
  function leftColumns({ chat_id = '', time }: Entry): string {
    const chat = visible(chat_id).slice(0, 8)
    const language = shorten(visible(languages.get(chat_id) ?? ''), LANGUAGE_COLUMNS)
    return theme.faint(`${time.slice(11, 19)} ${pad(chat, 8)} ${pad(language, LANGUAGE_COLUMNS)} `)
  }

  function pretty(entry: Entry, line: EntryLine): string {
    const text = wrap(shorten(labelOf(line, 'wide', free), MAX_WHAT_CHARS), free).join(`\n${' '.repeat(WHAT_AT)}`)
    return `${leftColumns(entry)}${pad(directionOf(line), WHO_COLUMNS)}  ${text}\n`
  }

  function detailText({ label, text, level }: LogDetail): string {
    const lines = wrap(text, free).map((line, index) => {
      const shown = `${pad(index === 0 ? label : '', WHO_COLUMNS)}  ${line}`.trimEnd()
      return `${' '.repeat(LEFT_COLUMNS)}${theme[level](shown)}\n`
    })
    return lines.join('')
  }

  return Object.assign(renderEntry, {
    skip: rememberLanguage,
    renderText(text: string): string {
      open = null
      return `${theme.faint(`${' '.repeat(LEFT_COLUMNS)}${text}`)}\n`
    },
  })
}

/** `intermediary -> platform`; what the runner or a setting of the user does is shown at its receiver. */
function directionOf({ from, to }: EntryLine): string {
  if (from !== to && from !== 'runner') return `${from} -> ${to}`
  return to === 'runner' ? 'handover-sim' : to
}

function answerLevel(entry: Entry): Shade {
  const problem = problemIn(entry)
  if (entry.kind === 'delivery' && problem === null) {
    if (entry.probe !== undefined) return 'plain'
    if (entry.outcome === 'skipped') return 'warn'
  }
  return problem === 'failed' ? 'bad' : problem === 'ordered' ? 'warn' : 'good'
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

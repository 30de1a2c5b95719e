/** Limits the log to what a person can read: the first entries of a second, then one line that counts the others. */
import { backgroundTimer } from '../../base/runtime/clock.ts'
import { counted } from '../../base/text/quantities.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { createLog, type LogOptions } from './log.ts'
import { isShown, looksWrong } from './log-filter.ts'

export interface LimitedLogOptions extends LogOptions {
  readonly write: (text: string) => void
  /** Tests replace it. */
  readonly startTimer?: typeof backgroundTimer
}

/** How many entries of a second are shown, and how many more when they look wrong. */
const MAX_ENTRIES = 50
const MAX_PROBLEMS = 10

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

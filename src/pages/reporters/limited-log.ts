/**
 * Limits the log to what a person can read. It shows the first entries of a second, and counts the others in one line.
 * An entry that looks wrong is shown for longer than others.
 */

import { backgroundTimer } from '../../base/runtime/clock.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { EntryOutline, SourceOutline } from '../../platform/journal/entry-source.ts'
import { createHiddenEntries } from './hidden-entries.ts'
import { createLog, type LogOptions } from './log.ts'
import { isInStyle, isShown, looksWrong, mayLookWrong } from './log-filter.ts'

export interface LimitedLog {
  /** Whether `show` needs the entry. Counts one for which it is false. */
  wants(outline: EntryOutline): boolean
  show(entry: Entry): void
  /** Writes the line of the entries that are not shown. */
  end(): void
}

export interface LimitedLogOptions extends LogOptions {
  readonly write: (text: string) => void
  /** Tests replace it. */
  readonly startTimer?: typeof backgroundTimer
}

const SECOND_MS = 1000
/** How many entries of a second are shown. */
const MOST_ENTRIES = 50
/** The same in a second after one that had more, so that the screen keeps what was there before. */
const MOST_UNDER_LOAD = 5
/** How many more of a second are shown when they look wrong. */
const MOST_PROBLEMS = 10

/** A second begins with its first entry, so no entry needs the time. */
interface Second {
  readonly timer: { cancel(): void }
  entries: number
  /** How many more are shown, whatever they are. */
  placesLeft: number
  /** How many more are shown after these, when they look wrong. */
  problemPlacesLeft: number
}

export function createLimitedLog(options: LimitedLogOptions): LimitedLog {
  const { style, write, startTimer = backgroundTimer } = options
  const log = createLog(options)
  const hidden = createHiddenEntries()
  let second: Second | null = null
  /** Of the latest entry that was built. */
  let time = ''

  const begin = (placesLeft: number): Second => ({
    timer: startTimer(SECOND_MS, endSecond),
    entries: 0,
    placesLeft,
    problemPlacesLeft: MOST_PROBLEMS,
  })

  function endSecond(): void {
    const isUnderLoad = (second?.entries ?? 0) > MOST_ENTRIES
    second = isUnderLoad ? begin(MOST_UNDER_LOAD) : null
    writeHidden()
  }

  function writeHidden(): void {
    const line = hidden.describe()
    if (line !== null) write(log.renderHidden(line, time))
  }

  return {
    wants(outline) {
      if (!isSource(outline) || mayLookWrong(outline)) return true
      if (!isInStyle(outline, style)) return false
      if (second === null || second.placesLeft > 0) return true
      second.entries++
      hidden.addHarmless(outline)
      return false
    },
    show(entry) {
      if (!isShown(entry, style)) return log.skip(entry)
      second ??= begin(MOST_ENTRIES)
      second.entries++
      time = entry.time
      if (takePlace(second, entry)) return write(log(entry))
      log.skip(entry)
      hidden.add(entry)
    },
    end() {
      second?.timer.cancel()
      second = null
      writeHidden()
    },
  }
}

/** Whether the entry is built only when the log needs it. */
const isSource = (outline: EntryOutline): outline is SourceOutline =>
  outline.kind === 'api' || outline.kind === 'event' || outline.kind === 'delivery'

/** Whether the entry has a place among those that are shown. */
function takePlace(second: Second, entry: Entry): boolean {
  if (second.placesLeft > 0) return second.placesLeft-- > 0
  if (second.problemPlacesLeft === 0 || !looksWrong(entry)) return false
  return second.problemPlacesLeft-- > 0
}

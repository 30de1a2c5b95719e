/** Shows the progress of a certification: on a terminal one line that changes, elsewhere a line for each check that ends. */

import { formatMs, shorten, visible, widthOf } from '../../base/text/terminal-text.ts'
import type { CheckReport } from '../../running/certifier/report.ts'
import { CHECK_STYLES, checkCause } from './certificate-lines.ts'
import type { ProgressOptions } from './progress.ts'
import { createTheme } from './theme.ts'

const TEXTS = {
  of: (done: number, all: number) => `${done} of ${all}`,
}

export interface CertificateProgress {
  planned(checks: number): void
  started(id: string): void
  finished(check: Pick<CheckReport, 'id' | 'title' | 'outcome' | 'durationMs' | 'findings' | 'reason'>): void
  /** Leaves nothing on the line. */
  stop(): void
}

const CLEAR = '\r\u001b[2K'
const MAX_CAUSE_COLUMNS = 200

type Options = Pick<ProgressOptions, 'output' | 'isTTY' | 'colorLevel' | 'columns'>

export function createCertificateProgress({ output, isTTY, colorLevel, columns }: Options): CertificateProgress {
  const theme = createTheme(colorLevel)
  const running = new Set<string>()
  const state = { total: 0, done: 0, failed: 0 }
  const redraw = () => {
    if (!isTTY) return
    const failed = state.failed === 0 ? [] : [`${state.failed} failed`]
    const line = [TEXTS.of(state.done, state.total), ...failed, ...running].join(', ')
    output.write(`${CLEAR}${theme.faint(shorten(line, columns - 1))}`)
  }
  return {
    planned(checks) {
      state.total = checks
    },
    started(id) {
      running.add(id)
      redraw()
    },
    finished(check) {
      running.delete(check.id)
      state.done++
      if (check.outcome === 'fail' || check.outcome === 'error') state.failed++
      if (isTTY) return redraw()
      const counter = rightAligned(TEXTS.of(state.done, state.total), state.total)
      output.write(`${counter}  ${endLine(check, ({ word, shade }) => theme[shade](word))}\n`)
    },
    stop() {
      if (isTTY && state.total > 0) output.write(CLEAR)
    },
  }
}

/** `  9 of 44`, as wide as `44 of 44`. */
const rightAligned = (text: string, total: number): string => text.padStart(widthOf(TEXTS.of(total, total)))

type Styled = (style: (typeof CHECK_STYLES)[CheckReport['outcome']]) => string

function endLine(check: Parameters<CertificateProgress['finished']>[0], styled: Styled): string {
  const cause = check.outcome === 'pass' ? '' : checkCause(check)
  const because = cause === '' ? '' : `: ${shorten(visible(cause), MAX_CAUSE_COLUMNS)}`
  return `${styled(CHECK_STYLES[check.outcome])} ${check.id} ${visible(check.title)}, ${formatMs(check.durationMs)}${because}`
}

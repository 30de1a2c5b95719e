/** What the page's script finds in the page of each play. */
import type { Entry } from '../../../journal/entry.ts'
import type { TimelineRow } from '../../../reporters/timeline.ts'

export interface Evidence {
  readonly rows: readonly TimelineRow[]
  /** Those the rows tell of, as far as they were kept; long payloads cut. */
  readonly entries: readonly Entry[]
}

/** Counts entries that the log does not show one by one, and describes them in one line. */

import { visible } from '../../base/text/terminal-text.ts'
import type { Entry, EntryKind, EntryOf } from '../../platform/journal/entry.ts'
import type { EntryOutline } from '../../platform/journal/entry-source.ts'
import { type EntryProblem, problemsOf } from './log-filter.ts'
import type { Level, LogDetail, LogLine } from './log-webhooks.ts'

const number = (count: number): string => count.toLocaleString('en')
const nouns = (count: number, one: string, several: string) => `${number(count)} ${count === 1 ? one : several}`

const TEXTS = {
  hidden: 'not shown',
  unknownPath: 'unknown path',
  answer: (status: number) => `answer ${status}`,
  api: (count: number) => nouns(count, 'call', 'calls'),
  event: (count: number) => nouns(count, 'event', 'events'),
  delivery: (count: number) => nouns(count, 'delivery', 'deliveries'),
  user: (count: number) => nouns(count, 'user action', 'user actions'),
  other: (count: number) => nouns(count, 'other entry', 'other entries'),
}

const PROBLEM_LABELS = {
  refused: 'refused',
  finding: 'with a finding',
  failed: 'failed',
  accepted: 'wrongly accepted',
  simulator: 'from handover-sim',
}

const LEVELS: Readonly<Record<EntryProblem['kind'], Level>> = {
  refused: 'bad',
  finding: 'warn',
  failed: 'bad',
  accepted: 'warn',
  simulator: 'bad',
}

type Endpoint = EntryOf<'api'>['endpoint']

/** Costs little per entry, because a busy client causes 30,000 a second: text is rendered once, by `describe`. */
export interface HiddenEntries {
  add(entry: Entry): void
  /** Adds one that does not look wrong, also before it is built. */
  addHarmless(outline: EntryOutline): void
  /** Null when nothing was added since the last call. Begins again at zero. */
  describe(): LogLine | null
}

type Counts<Key> = Map<Key, number>

export function createHiddenEntries(): HiddenEntries {
  const kinds: Counts<EntryKind> = new Map()
  const endpoints: Counts<Endpoint> = new Map()
  const problems = new Map<EntryProblem['kind'], Counts<EntryProblem['code']>>()

  function addHarmless(outline: EntryOutline): void {
    increment(kinds, outline.kind)
    if (outline.kind === 'api') increment(endpoints, outline.endpoint)
  }
  function addProblem({ kind, code }: EntryProblem): void {
    const codes = problems.get(kind) ?? new Map()
    problems.set(kind, codes)
    increment(codes, code)
  }

  return {
    addHarmless,
    add(entry) {
      addHarmless(entry)
      for (const problem of problemsOf(entry)) addProblem(problem)
    },
    describe() {
      if (kinds.size === 0) return null
      const line = { direction: TEXTS.hidden, what: whatText(kinds, endpoints), details: details(problems) }
      for (const counts of [kinds, endpoints, problems]) counts.clear()
      return line
    },
  }
}

const increment = <Key>(counts: Counts<Key>, key: Key): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

const SHOWN_KINDS = ['api', 'event', 'delivery', 'user'] as const

/** `1,204 calls (1,180 message, 24 typing_start), 36 deliveries`, or `1,204 calls (message)`. */
function whatText(kinds: Counts<EntryKind>, endpoints: Counts<Endpoint>): string {
  const names = [...endpoints].map(([endpoint, count]) => [endpoint ?? TEXTS.unknownPath, count] as const)
  const calls = names.length === 1 ? names[0]?.[0] : list(names)
  const known = SHOWN_KINDS.flatMap(kind => {
    const count = kinds.get(kind)
    if (count === undefined) return []
    return `${TEXTS[kind](count)}${kind === 'api' ? ` (${calls})` : ''}`
  })
  const others = (kinds.get('note') ?? 0) + (kinds.get('fault') ?? 0) + (kinds.get('driver') ?? 0)
  return [...known, ...(others === 0 ? [] : [TEXTS.other(others)])].join(', ')
}

const details = (problems: ReadonlyMap<EntryProblem['kind'], Counts<EntryProblem['code']>>): LogDetail[] =>
  [...problems].map(([kind, codes]) => {
    const total = [...codes.values()].reduce((sum, count) => sum + count, 0)
    const label = `${number(total)} ${PROBLEM_LABELS[kind]}`
    return { label, shortLabel: `${label}:`, text: list([...codes].map(nameOfCode)), level: LEVELS[kind] }
  })

const nameOfCode = ([code, count]: readonly [EntryProblem['code'], number]): [string, number] => [
  typeof code === 'number' ? TEXTS.answer(code) : visible(code),
  count,
]

/** `12 chat_not_found, 5 missing_scope`, the most frequent first. */
const list = (counts: readonly (readonly [string, number])[]): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${number(count)} ${name}`)
    .join(', ')

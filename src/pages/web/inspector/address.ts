/** Keeps what is shown in the address of the page, so that a link opens the same view again. */
import { batch, effect, type Signal, signal } from '@preact/signals'
import { wallTimer } from '../../../base/runtime/clock.ts'
import type { EntryKind } from '../../../platform/journal/entry.ts'

/** The order of the filter. */
export const ENTRY_KINDS: readonly EntryKind[] = ['api', 'event', 'delivery', 'user', 'note', 'fault', 'driver']

export type WireView = 'diagram' | 'list'
export type SideView = 'agent' | 'platform'
const COLUMNS = ['user', 'wire', 'agent', 'side'] as const
/** `agent` is a column of its own on very wide screens. */
export type ColumnName = (typeof COLUMNS)[number]

/** What the address has. */
export interface View {
  readonly workspace: Signal<string | null>
  readonly chat: Signal<string | null>
  /** The selected entry. */
  readonly entry: Signal<number | null>
  /** The moment that is shown, as the seq of its last entry; null for the present. */
  readonly at: Signal<number | null>
  /** The entry that is compared with the selected one. */
  readonly compare: Signal<number | null>
  readonly wire: Signal<WireView>
  readonly side: Signal<SideView>
  readonly filter: Signal<string>
  /** Null for all kinds of entries. */
  readonly kind: Signal<EntryKind | null>
  readonly onlyProblems: Signal<boolean>
  /** Whether the wire shows all chats. */
  readonly all: Signal<boolean>
  /** The column that a narrow screen shows; 'side' as long as the details must not take its place. */
  readonly column: Signal<ColumnName>
  readonly folded: Signal<readonly ColumnName[]>
  /** The sections of the platform that are open. */
  readonly sections: Signal<readonly string[]>
  /** The knob that the platform's column shows. */
  readonly knob: Signal<string | null>
}

/** Open when the address names none. */
const FIRST_SECTIONS: readonly string[] = ['webhook', 'availability']
const NO_SECTION = 'none'

/** As in the style sheet: so narrow, the page shows one column. */
const ONE_COLUMN = '(max-width: 60rem)'

/** Selects an entry in the wire, which narrow screens then show instead of the other columns. */
export function showEntry(view: View, seq: number): void {
  batch(() => {
    view.entry.value = seq
    if (matchMedia(ONE_COLUMN).matches) view.column.value = 'wire'
  })
}

/** Shows a knob in the column of the platform, from anywhere in the page. */
export const showKnob = (view: View, name: string): void =>
  batch(() => {
    view.side.value = 'platform'
    view.column.value = 'side'
    view.folded.value = view.folded.value.filter(column => column !== 'side')
    view.knob.value = name
  })

/** The page at `/inspector` of UI mode, which is beside it; null elsewhere. */
export const uiModeAddress = (): string | null => (location.pathname.endsWith('/inspector') ? './' : null)

export const sectionId = (name: string): string => `platform-${name}`

/** Opens a section in the column of the platform, and moves the focus to it. */
export function showSection(view: View, name: string): void {
  batch(() => {
    view.side.value = 'platform'
    view.column.value = 'side'
    view.folded.value = view.folded.value.filter(column => column !== 'side')
    if (!view.sections.value.includes(name)) view.sections.value = [...view.sections.value, name]
  })
  requestAnimationFrame(() => {
    const section = document.getElementById(sectionId(name))
    section?.scrollIntoView({ block: 'start' })
    section?.querySelector('button')?.focus({ preventScroll: true })
  })
}

export function readView(search: string): View {
  const query = new URLSearchParams(search)
  const number = (name: string) => (/^\d{1,15}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : null)
  return {
    workspace: signal(query.get('workspace')),
    chat: signal(query.get('chat')),
    entry: signal(number('entry')),
    at: signal(number('at')),
    compare: signal(number('compare')),
    wire: signal(query.get('wire') === 'list' ? 'list' : 'diagram'),
    side: signal(query.get('side') === 'platform' || query.has('knob') ? 'platform' : 'agent'),
    filter: signal(query.get('filter') ?? ''),
    kind: signal(ENTRY_KINDS.find(kind => kind === query.get('kind')) ?? null),
    onlyProblems: signal(query.has('problems')),
    all: signal(query.has('all')),
    column: signal(columnsIn(query.get('column'))[0] ?? (query.has('knob') ? 'side' : 'user')),
    folded: signal(columnsIn(query.get('folded'))),
    sections: signal(
      query
        .get('sections')
        ?.split(',')
        .filter(name => name !== NO_SECTION) ?? FIRST_SECTIONS,
    ),
    knob: signal(query.get('knob')),
  }
}

const columnsIn = (text: string | null): ColumnName[] =>
  (text ?? '').split(',').filter((name): name is ColumnName => COLUMNS.some(column => column === name))

/** Browsers limit how often a page changes its address. */
const WRITE_AFTER_MS = 150

/** Writes changes of the view into the address, without a new entry in the history. */
export const keepInAddress = (view: View): (() => void) =>
  effect(() => {
    // The query of the address; what has its usual value is left out.
    const query = new URLSearchParams()
    const set = (name: string, value: string | number | null) => {
      if (value !== null && value !== '') query.set(name, String(value))
    }
    set('workspace', view.workspace.value)
    set('chat', view.chat.value)
    set('entry', view.entry.value)
    set('at', view.at.value)
    set('compare', view.compare.value)
    set('wire', view.wire.value === 'list' ? 'list' : null)
    set('side', view.side.value === 'platform' ? 'platform' : null)
    set('filter', view.filter.value)
    set('kind', view.kind.value)
    set('problems', view.onlyProblems.value ? '1' : null)
    set('all', view.all.value ? '1' : null)
    set('column', view.column.value === 'user' ? null : view.column.value)
    set('folded', view.folded.value.join(','))
    const sections = view.sections.value.join(',')
    set('sections', sections === FIRST_SECTIONS.join(',') ? null : sections || NO_SECTION)
    set('knob', view.knob.value)
    const text = query.toString()
    const search: string = text === '' ? '' : `?${text}`

    const timer = wallTimer(WRITE_AFTER_MS, () => history.replaceState(null, '', search || location.pathname))
    return () => timer.cancel()
  })

/** Lays the inspector out: the end user's chat, the wire, and the agent or the platform. */
import './inspector.css'
import { batch } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import { Shortcuts, showShortcuts } from '../components/shortcuts.tsx'
import { TokenForm } from '../components/token-form.tsx'
import { useMedia } from '../components/width.ts'
import { type ColumnName, type SideView, uiModeAddress } from './address.ts'
import { AgentDesk, WaitingBadge } from './agent-desk.tsx'
import { WireWithPast } from './past-wire.tsx'
import { PlatformProvider, useIsProxy } from './platform/platform-section.tsx'
import { PlatformPanel } from './platform-panel.tsx'
import { ProxyBar } from './proxy-bar.tsx'
import { ReadinessPane } from './readiness.tsx'
import { useSession } from './session-context.ts'
import { StateStrip } from './state-strip.tsx'
import { MomentBanner } from './time-line.tsx'
import { UserChat } from './user-chat.tsx'
import { WorkspaceBar } from './workspaces.tsx'

/** Counts in the title of the tab what went wrong without being ordered. */
function TabTitle() {
  const { log, clearedUntil } = useSession()
  const problems = log.value.problems.filter(
    entry => entry.seq > clearedUntil.value && problemIn(entry) !== 'ordered',
  ).length
  useEffect(() => {
    document.title = problems === 0 ? 'handover-sim' : `(${problems}) handover-sim`
  }, [problems])
  return null
}

const FEED_TEXTS = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'The server does not answer. Start it again',
  refused: 'Token needed',
  missing: 'This workspace does not exist.',
} as const

function StartCommand() {
  const port = location.port === '' ? '' : ` --port ${location.port}`
  return (
    <>
      : npx handover-sim {useIsProxy() ? 'proxy' : 'start'}
      {port}
    </>
  )
}

export function Inspector() {
  const { feed, problem, view } = useSession()
  if (feed.value === 'refused') return <TokenForm />
  return (
    <PlatformProvider>
      <div class="inspector">
        <Shortcuts />
        <TabTitle />
        <header class="top-bar">
          <h1>handover-sim</h1>
          <p class={`feed ${feed.value}`} role="status">
            {FEED_TEXTS[feed.value]}
            {feed.value === 'lost' ? <StartCommand /> : null}
          </p>
          <StateStrip />
          {uiModeAddress() === null ? null : <a href={uiModeAddress() ?? undefined}>Scenarios</a>}
          <WorkspaceBar>
            <button type="button" class="quiet" onClick={showShortcuts}>
              Keyboard shortcuts
            </button>
          </WorkspaceBar>
        </header>
        {problem.value === null ? null : (
          <p class="problem" role="alert">
            {problem.value}
            <button type="button" class="link" onClick={() => (problem.value = null)}>
              Close
            </button>
          </p>
        )}
        <ProxyBar />
        <ReadinessPane />
        <MomentBanner />
        <ColumnSwitch />
        <main class={`columns shows-${view.column.value}`}>
          <Column name="user" heading={<h2>End user</h2>} title="End user">
            <UserChat />
          </Column>
          <Column name="wire" heading={<h2>Wire</h2>} title="Wire">
            <WireWithPast />
          </Column>
          <SideColumns />
        </main>
      </div>
    </PlatformProvider>
  )
}

/**
 * Very wide screens show agent and platform beside each other; others show one of them. While an entry needs the place of the
 * right column for its details, that column is folded, until it is used again.
 */
function SideColumns() {
  const { view, log } = useSession()
  const { side, entry, column } = view
  const isProxy = useIsProxy()
  const isVeryWide = useMedia('(min-width: 110rem)')
  const isWide = useMedia('(min-width: 75rem)')
  const hasDetails = entry.value !== null && log.value.entry(entry.value) !== undefined
  const isCovered = isWide && hasDetails && column.value !== 'side'
  if (isProxy)
    return (
      <Column name="side" heading={<h2>Platform</h2>} title="Platform" isCovered={isCovered}>
        <PlatformPanel />
      </Column>
    )
  const isAgent = side.value === 'agent'
  if (!isVeryWide)
    return (
      <Column name="side" heading={<SideTabs />} title={SIDE_TITLES[side.value]} isCovered={isCovered}>
        {isAgent ? <AgentDesk /> : <PlatformPanel />}
      </Column>
    )
  return (
    <>
      <Column name="agent" heading={<h2>Agent</h2>} title="Agent">
        <AgentDesk />
      </Column>
      <Column name="side" heading={<h2>Platform</h2>} title="Platform" isCovered={isCovered}>
        <PlatformPanel />
      </Column>
    </>
  )
}

const SIDE_TITLES = { agent: 'Agent', platform: 'Platform' } as const

function SideTabs() {
  const { side, column } = useSession().view
  const show = (name: SideView) =>
    batch(() => {
      side.value = name
      column.value = 'side'
    })
  return (
    <div class="tabs">
      <h2 class="visually-hidden">{SIDE_TITLES[side.value]}</h2>
      {(['agent', 'platform'] as const).map(name => (
        <button key={name} type="button" aria-pressed={side.value === name} onClick={() => show(name)}>
          {SIDE_TITLES[name]} {name === 'agent' ? <WaitingBadge /> : null}
        </button>
      ))}
    </div>
  )
}

const SWITCH = [
  { column: 'user', side: null, title: 'End user' },
  { column: 'wire', side: null, title: 'Wire' },
  { column: 'side', side: 'agent', title: 'Agent' },
  { column: 'side', side: 'platform', title: 'Platform' },
] as const

/** Narrow screens show one column, which this chooses. */
function ColumnSwitch() {
  const { view } = useSession()
  const isProxy = useIsProxy()
  const choices = SWITCH.filter(({ side }) => !(isProxy && side === 'agent'))
  const isShown = ({ column, side }: (typeof SWITCH)[number]) =>
    view.column.value === column && (side === null || isProxy || view.side.value === side)
  const show = ({ column, side }: (typeof SWITCH)[number]) =>
    batch(() => {
      view.column.value = column
      view.folded.value = view.folded.value.filter(name => name !== column)
      if (side !== null) view.side.value = side
    })
  return (
    <nav class="column-switch" aria-label="Columns">
      {choices.map(choice => (
        <button key={choice.title} type="button" aria-pressed={isShown(choice)} onClick={() => show(choice)}>
          {choice.title} {choice.side === 'agent' ? <WaitingBadge /> : null}
        </button>
      ))}
    </nav>
  )
}

interface ColumnProps {
  readonly name: ColumnName
  readonly heading: ComponentChildren
  /** The name of the column, for its label and for the button that folds it. */
  readonly title: string
  /** Folds it until it is asked for, and keeps what is in it. */
  readonly isCovered?: boolean
  readonly children: ComponentChildren
}

function Column({ name, heading, title, isCovered = false, children }: ColumnProps) {
  const { view } = useSession()
  const isClosed = view.folded.value.includes(name)
  const isFolded = isClosed || isCovered
  const fold = () =>
    batch(() => {
      if (isFolded) view.column.value = name
      view.folded.value = isFolded ? view.folded.value.filter(folded => folded !== name) : [...view.folded.value, name]
    })
  return (
    <section
      class={`column ${name}${isFolded ? ' folded' : ''}`}
      aria-label={title}
      onFocusIn={name === 'side' && !isFolded ? () => (view.column.value = name) : undefined}
    >
      <header class="column-head">
        {isClosed ? <h2>{title}</h2> : heading}
        <button
          type="button"
          class="quiet"
          aria-expanded={!isFolded}
          aria-label={`${isFolded ? 'Unfold' : 'Fold'} ${title}`}
          onClick={fold}
        >
          {isFolded ? '+' : '–'}
        </button>
      </header>
      {isClosed ? null : children}
    </section>
  )
}

/** Lays the inspector out: the end user's chat, the wire, and the agent or the platform. */
import './inspector.css'
import type { ComponentChildren } from 'preact'
import { Shortcuts, showShortcuts } from '../components/shortcuts.tsx'
import type { ColumnName } from './address.ts'
import { AgentDesk } from './agent-desk.tsx'
import { PlatformPanel } from './platform-panel.tsx'
import type { Session } from './session.ts'
import { UserChat } from './user-chat.tsx'
import { Wire } from './wire.tsx'

const FEED_TEXTS = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'The server does not answer. Trying again.',
  refused: 'The token is missing or wrong. Open the address that `handover-sim start` printed.',
} as const

export function Inspector({ session }: { readonly session: Session }) {
  const { feed, problem, view } = session
  return (
    <div class="inspector">
      <Shortcuts />
      <header class="top-bar">
        <h1>handover-sim</h1>
        <p class={`feed ${feed.value}`} role="status">
          {FEED_TEXTS[feed.value]}
        </p>
        <button type="button" class="quiet" onClick={showShortcuts}>
          Keyboard
        </button>
      </header>
      {problem.value === null ? null : (
        <p class="problem" role="alert">
          {problem.value}
          <button type="button" class="link" onClick={() => (problem.value = null)}>
            Close
          </button>
        </p>
      )}
      <main class="columns">
        <Column session={session} name="user" title="End user">
          <UserChat session={session} />
        </Column>
        <Column session={session} name="wire" title="Wire">
          <Wire session={session} />
        </Column>
        <Column session={session} name="side" title={view.side.value === 'agent' ? 'Agent' : 'Platform'}>
          <div class="tabs" role="tablist" aria-label="Agent or platform">
            {(['agent', 'platform'] as const).map(side => (
              <button
                key={side}
                type="button"
                role="tab"
                aria-selected={view.side.value === side}
                onClick={() => (view.side.value = side)}
              >
                {side === 'agent' ? 'Agent' : 'Platform'}
              </button>
            ))}
          </div>
          {view.side.value === 'agent' ? <AgentDesk session={session} /> : <PlatformPanel session={session} />}
        </Column>
      </main>
    </div>
  )
}

interface ColumnProps {
  readonly session: Session
  readonly name: ColumnName
  readonly title: string
  readonly children: ComponentChildren
}

function Column({ session: { view }, name, title, children }: ColumnProps) {
  const isFolded = view.folded.value.includes(name)
  const fold = () => {
    view.folded.value = isFolded ? view.folded.value.filter(one => one !== name) : [...view.folded.value, name]
  }
  return (
    <section class={`column ${name}${isFolded ? ' folded' : ''}`} aria-label={title}>
      <header class="column-head">
        <h2>{title}</h2>
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
      {isFolded ? null : children}
    </section>
  )
}

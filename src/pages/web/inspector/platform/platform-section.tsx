/** A section of the platform's column that folds, and gives its parts the platform of the shown moment. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useRef } from 'preact/hooks'
import { type Submission, useSubmission } from '../fields.tsx'
import { useSession } from '../session-context.ts'
import type { PlatformMoment, PlatformStore } from './platform-store.ts'

export const PlatformContext = createContext<{ readonly store: PlatformStore; readonly moment: PlatformMoment } | null>(
  null,
)

function usePlatformContext() {
  const context = useContext(PlatformContext)
  if (context === null) throw new Error('Failed to find the platform: the component is outside of its panel.')
  return context
}

/** The platform at the shown moment. */
export const usePlatform = (): PlatformMoment => usePlatformContext().moment

export interface PlatformSectionProps {
  readonly name: string
  readonly title: string
  /** In a few words, also while it is folded. */
  readonly summary?: ComponentChildren
  readonly children: ComponentChildren
}

/** The content stays in the page after the first opening, so that folding loses nothing that was typed. */
export function PlatformSection({ name, title, summary, children }: PlatformSectionProps) {
  const { sections } = useSession().view
  const id = useId()
  const isOpen = sections.value.includes(name)
  const wasOpened = useRef(false)
  wasOpened.current ||= isOpen
  const fold = () => {
    sections.value = isOpen ? sections.value.filter(one => one !== name) : [...sections.value, name]
  }
  return (
    <section class="platform-section" aria-labelledby={`${id}title`}>
      <h3 class="platform-section-head">
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={fold}>
          <span id={`${id}title`}>{title}</span>
          <span class="platform-section-summary">{summary}</span>
        </button>
      </h3>
      <div id={id} class="platform-section-body" hidden={!isOpen}>
        {wasOpened.current ? children : null}
      </div>
    </section>
  )
}

/** Sends a form of the platform, and loads the platform again after a success. */
export function useSaving(): Submission {
  const { store } = usePlatformContext()
  return useSubmission(store.refresh)
}

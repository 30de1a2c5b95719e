/** Gives components the platform of the shown moment, and draws the sections of its column, which fold. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useMemo, useRef } from 'preact/hooks'
import { sectionId } from '../address.ts'
import { type Submission, useSubmission } from '../fields.tsx'
import { useSession } from '../session-context.ts'
import { createPlatformStore, type PlatformMoment, type PlatformStore } from './platform-store.ts'

const PlatformContext = createContext<PlatformStore | null>(null)

/** Loads the platform of the session for all that is in it. */
export function PlatformProvider({ children }: { readonly children: ComponentChildren }) {
  const session = useSession()
  const store = useMemo(() => createPlatformStore(session), [session])
  useEffect(() => () => store.close(), [store])
  return <PlatformContext.Provider value={store}>{children}</PlatformContext.Provider>
}

export function usePlatformStore(): PlatformStore {
  const store = useContext(PlatformContext)
  if (store === null) throw new Error('Failed to find the platform: the component is outside of its provider.')
  return store
}

/** Whether this is the page of a proxy, which records and takes no acts. */
export const useIsProxy = (): boolean => usePlatformStore().proxy.value !== null

/** The platform at the shown moment, for components that are drawn when it is loaded. */
export function usePlatform(): PlatformMoment {
  const moment = usePlatformStore().moment.value
  if (moment === null) throw new Error('Failed to read the platform: it is not loaded yet.')
  return moment
}

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
    sections.value = isOpen ? sections.value.filter(section => section !== name) : [...sections.value, name]
  }
  return (
    <section id={sectionId(name)} class="platform-section" aria-labelledby={`${id}title`}>
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
  return useSubmission(usePlatformStore().refresh)
}

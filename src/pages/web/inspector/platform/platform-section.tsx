/** A section of the platform's column that folds, and what its forms share: saving, and problems beside their fields. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../../../base/text/error-text.ts'
import { type ControlClient, ControlError, type ControlIssue } from '../../client/control.ts'
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

export interface Saving {
  readonly issues: readonly ControlIssue[]
  readonly isPending: boolean
  /** Returns whether it succeeded. What fails is shown by `FieldIssue` and `OtherProblems`. */
  save(run: (client: ControlClient) => Promise<unknown>): Promise<boolean>
  clear(): void
}

/** Saves a form, and keeps the problems until the next time. */
export function useSaving(): Saving {
  const { client } = useSession()
  const { store } = usePlatformContext()
  const [issues, setIssues] = useState<readonly ControlIssue[]>([])
  const [isPending, setPending] = useState(false)
  return {
    issues,
    isPending,
    async save(run) {
      setPending(true)
      const found = await run(client).then(() => [], issuesOf)
      setPending(false)
      setIssues(found)
      if (found.length === 0) store.refresh()
      return found.length === 0
    },
    clear: () => setIssues([]),
  }
}

function issuesOf(error: unknown): readonly ControlIssue[] {
  if (error instanceof ControlError && error.issues.length > 0) return error.issues
  return [{ field: '', message: error instanceof TypeError ? 'The server does not answer.' : messageOf(error) }]
}

/** Sets settings by name, all or none. */
export const patchConfig = (patch: Readonly<Record<string, unknown>>) => (client: ControlClient) =>
  client.send('PATCH', '/config', { body: patch })

const isAbout = (field: string, name: string) =>
  field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)

/** The problems of one field; `id` is what its input is described by. */
export function FieldIssue({ id, issues, name }: { id: string; issues: readonly ControlIssue[]; name: string }) {
  const own = issues.filter(({ field }) => isAbout(field, name))
  return own.length === 0 ? null : <ProblemText id={id} issues={own} />
}

/** The problems that are about none of the named fields. */
export function OtherProblems({ issues, names }: { issues: readonly ControlIssue[]; names: readonly string[] }) {
  const others = issues.filter(({ field }) => !names.some(name => isAbout(field, name)))
  return others.length === 0 ? null : <ProblemText issues={others} />
}

function ProblemText({ id, issues }: { id?: string; issues: readonly ControlIssue[] }) {
  return (
    <p id={id} class="platform-problem" role="alert">
      {issues.map(({ field, message, allowed }) => (
        <span key={field + message}>
          {message}
          {Array.isArray(allowed) && allowed.length > 0 && allowed.length <= 12
            ? ` Allowed: ${allowed.join(', ')}.`
            : ''}
        </span>
      ))}
    </p>
  )
}

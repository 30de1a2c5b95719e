/** Guides through the first handover. Each step is ticked when the journal shows it; then the guide goes away. */

import { useEffect } from 'preact/hooks'
import { GUIDE_STEPS, type GuideStep } from '../model/agent-queue.ts'
import { readStored, writeStored } from './agent-side.ts'
import { useDraft, useSession } from './session-context.ts'

const STORED = 'handover-sim guide'

const USER = 'as the end user'

const STEPS: Readonly<Record<GuideStep, { readonly text: string; readonly where?: string }>> = {
  write: { text: 'Write a message', where: USER },
  request: { text: 'Ask for a person', where: USER },
  accept: { text: 'Accept the chat' },
  answer: { text: 'Answer' },
  end: { text: 'Hand the chat back' },
}

interface GuideProps {
  /** Where the agent's steps are done: `here`. */
  readonly agentWhere: string
}

export function AgentGuide({ agentWhere }: GuideProps) {
  const { agentSide: side } = useSession()
  const { done } = side.queue.value
  const [isHidden, setHidden] = useDraft('guide is hidden', readStored(STORED) === 'done')
  const isComplete = GUIDE_STEPS.every(step => done.has(step))
  useEffect(() => {
    if (isComplete) writeStored(STORED, 'done')
  }, [isComplete])
  // Stays shown after the last step until it is closed, or the page is loaded again.
  if (isHidden) return null
  const close = () => {
    writeStored(STORED, 'done')
    setHidden(true)
  }
  const next = GUIDE_STEPS.find(step => !done.has(step))
  return (
    <section class="guide" aria-label="Your first handover">
      <header>
        <h3>{isComplete ? 'That was a whole handover' : 'Your first handover'}</h3>
        <button type="button" class="quiet guide-close" aria-label="Close the guide" onClick={close}>
          ✕
        </button>
      </header>
      <ol>
        {GUIDE_STEPS.map(step => (
          <li key={step} class={done.has(step) ? 'done' : ''} aria-current={step === next ? 'step' : undefined}>
            <span class="guide-text">{STEPS[step].text}</span>{' '}
            <span class="hint">{STEPS[step].where ?? agentWhere}</span>
            {done.has(step) ? <span class="visually-hidden">, done</span> : null}
          </li>
        ))}
      </ol>
      {isComplete ? (
        <p class="hint">
          Every call is in the wire. Select one to see its bytes, or open “The call as code” to send it from your
          program.
        </p>
      ) : null}
    </section>
  )
}

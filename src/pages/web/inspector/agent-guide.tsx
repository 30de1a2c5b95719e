/** Guides through the first handover. Each step is ticked when the journal shows it; then the guide goes away. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { GUIDE_STEPS, type GuideStep } from '../model/agent-queue.ts'
import type { DeskProps } from './agent-desk.tsx'
import { readStored, writeStored } from './agent-side.ts'

const STORED = 'handover-sim guide'
/** Stays shown after the last step until it is closed, or the page is loaded again. */
const isHidden = signal(readStored(STORED) === 'done')

const USER = 'as the end user'

const STEPS: Readonly<Record<GuideStep, { readonly text: string; readonly where?: string }>> = {
  write: { text: 'Write a message', where: USER },
  request: { text: 'Ask for a person', where: USER },
  accept: { text: 'Accept the chat' },
  answer: { text: 'Answer' },
  end: { text: 'Hand the chat back' },
}

interface GuideProps extends Pick<DeskProps, 'side'> {
  /** Where the agent's steps are done: `here`. */
  readonly agentWhere: string
}

export function AgentGuide({ side, agentWhere }: GuideProps) {
  const { done } = side.queue.value
  const isComplete = GUIDE_STEPS.every(step => done.has(step))
  useEffect(() => {
    if (isComplete) writeStored(STORED, 'done')
  }, [isComplete])
  if (isHidden.value) return null
  const close = () => {
    writeStored(STORED, 'done')
    isHidden.value = true
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

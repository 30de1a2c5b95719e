/** Divides the wire between its rows and the details, and is moved with the pointer or the arrow keys. */
import { signal } from '@preact/signals'
import { readStored, writeStored } from './agent-side.ts'

const STORED = 'handover-sim details'
const MIN_PERCENT = 20
const MAX_PERCENT = 80
const STEP = 5

/** The part of the details in percent. Kept in this browser. */
const size = signal(within(Number(readStored(STORED) ?? 40)))

function within(percent: number): number {
  return Number.isFinite(percent) ? Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, Math.round(percent))) : 50
}

function resize(percent: number): void {
  size.value = within(percent)
  writeStored(STORED, String(size.value))
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: STEP,
  ArrowLeft: STEP,
  ArrowDown: -STEP,
  ArrowRight: -STEP,
}

export interface PaneSeparatorProps {
  /** Whether the details are at the right of the rows. */
  readonly isBeside: boolean
}

export function PaneSeparator({ isBeside }: PaneSeparatorProps) {
  const onPointerMove = ({ currentTarget, pointerId, clientX, clientY }: PointerEvent) => {
    if (!(currentTarget instanceof HTMLElement) || !currentTarget.hasPointerCapture(pointerId)) return
    const box = currentTarget.parentElement?.getBoundingClientRect()
    if (box === undefined) return
    resize(100 * (isBeside ? (box.right - clientX) / box.width : (box.bottom - clientY) / box.height))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved
    <div
      class="pane-separator"
      role="separator"
      tabIndex={0}
      aria-label="Size of the details"
      aria-orientation={isBeside ? 'vertical' : 'horizontal'}
      aria-valuenow={size.value}
      aria-valuemin={MIN_PERCENT}
      aria-valuemax={MAX_PERCENT}
      ref={element => element?.parentElement?.style.setProperty('--details', `${size.value}%`)}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={event => {
        const step = STEPS[event.key]
        if (step === undefined) return
        event.preventDefault()
        event.stopPropagation()
        resize(size.peek() + step)
      }}
    />
  )
}

/** Copies a text, and says so for a moment. */
import { useEffect, useState } from 'preact/hooks'
import { wallTimer } from '../../../base/runtime/clock.ts'

export interface CopyButtonProps {
  readonly text: string
  /** What is copied, for the name of the button: `the curl command`. */
  readonly what: string
}

const SHOWN_MS = 2_000

export function CopyButton({ text, what }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = wallTimer(SHOWN_MS, () => setOutcome(null))
    return () => timer.cancel()
  }, [outcome])
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'refused')
  return (
    <button type="button" class="quiet copy" aria-label={`Copy ${what}`} onClick={copy}>
      <span aria-live="polite">{outcome === null ? 'Copy' : TEXTS[outcome]}</span>
    </button>
  )
}

const TEXTS = { copied: 'Copied', refused: 'Select and copy it' } as const

/** Browsers offer the clipboard on loopback addresses and with https only; elsewhere a selection is copied. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'visually-hidden'
    const focused = document.activeElement
    const parent = document.querySelector('dialog[open]') ?? document.body
    parent.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return isCopied
  }
}

/** Shows a JSON value as a tree that folds. Parts that are folded are drawn when they are opened, so that a large value costs little. */
import './entries.css'
import { useState } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { visible } from '../../../base/text/terminal-text.ts'

/** A value with at most so many characters of JSON begins unfolded. */
const OPEN_CHARS = 6_000
/** So many items of a long list or object are drawn at first, and with each click on the button after them. */
const PAGE = 100

export interface JsonTreeProps {
  readonly value: unknown
  readonly label: string
}

export function JsonTree({ value, label }: JsonTreeProps) {
  const isSmall = (JSON.stringify(value) ?? '').length <= OPEN_CHARS
  return (
    <section class="json-tree" aria-label={label} tabIndex={0}>
      <Node value={value} depth={0} isSmall={isSmall} />
    </section>
  )
}

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  readonly depth: number
  readonly isSmall: boolean
}

function Node({ name, value, depth, isSmall }: NodeProps) {
  const [isOpen, setOpen] = useState(isSmall || depth === 0)
  const [shown, setShown] = useState(PAGE)
  const label = name === undefined ? null : <span class="json-name">{visible(JSON.stringify(name))}: </span>
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (fields.length === 0) {
    const kind = value === null ? 'null' : typeof value
    return (
      <div class="json-line">
        {label}
        <span class={`json-${kind}`}>{visible(JSON.stringify(value) ?? 'undefined')}</span>
      </div>
    )
  }
  const isList = Array.isArray(value)
  const end = isList ? ']' : '}'
  return (
    <details class="json-parent" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        {isList ? '[' : '{'}
        {isOpen ? null : (
          <>
            <span class="json-size">{counted(fields.length, isList ? 'item' : 'field')}</span>
            {end}
          </>
        )}
      </summary>
      {isOpen ? (
        <>
          <div class="json-children">
            {fields.slice(0, shown).map(([key, field]) => (
              <Node key={key} {...(!isList && { name: key })} value={field} depth={depth + 1} isSmall={isSmall} />
            ))}
            {fields.length <= shown ? null : (
              <button type="button" class="link" onClick={() => setShown(shown + PAGE)}>
                {fields.length - shown} more
              </button>
            )}
          </div>
          <div class="json-end">{end}</div>
        </>
      ) : null}
    </details>
  )
}

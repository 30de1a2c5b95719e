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
  const isList = Array.isArray(value)
  const isParent = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isParent)
    return (
      <div class="json-line">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  return (
    <details class="json-parent" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        {isList ? '[' : '{'}
        {isOpen ? null : (
          <span class="json-size">
            {Array.isArray(value) ? counted(value.length, 'item') : counted(Object.keys(value).length, 'field')}
          </span>
        )}
        {isOpen ? null : isList ? ']' : '}'}
      </summary>
      {isOpen ? <Children value={value} depth={depth + 1} isSmall={isSmall} /> : null}
      {isOpen ? <div class="json-end">{isList ? ']' : '}'}</div> : null}
    </details>
  )
}

function Children({ value, depth, isSmall }: NodeProps & { readonly value: object }) {
  const [shown, setShown] = useState(PAGE)
  const fields = Object.entries(value)
  const isList = Array.isArray(value)
  return (
    <div class="json-children">
      {fields.slice(0, shown).map(([name, field]) => (
        <Node key={name} {...(!isList && { name })} value={field} depth={depth} isSmall={isSmall} />
      ))}
      {fields.length <= shown ? null : (
        <button type="button" class="link" onClick={() => setShown(shown + PAGE)}>
          {fields.length - shown} more
        </button>
      )}
    </div>
  )
}

const Name = ({ name }: { readonly name: string | undefined }) =>
  name === undefined ? null : <span class="json-name">{visible(JSON.stringify(name))}: </span>

function Leaf({ value }: { readonly value: unknown }) {
  const kind = value === null ? 'null' : typeof value
  return <span class={`json-${kind}`}>{visible(JSON.stringify(value) ?? 'undefined')}</span>
}

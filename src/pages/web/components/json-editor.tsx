/** Edits JSON as text, and says in which line and column the first mistake is. */
import './controls.css'
import { useId, useRef } from 'preact/hooks'
import { type ParsedJson, parseJsonText } from '../model/json-text.ts'

export interface JsonEditorProps {
  readonly label: string
  readonly text: string
  readonly rows?: number
  /** What the server says about the value; null when it says nothing. */
  readonly problem?: string | null
  onChange(text: string, parsed: ParsedJson): void
}

export function JsonEditor({ label, text, rows = 8, problem = null, onChange }: JsonEditorProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const parsed = parseJsonText(text)
  const goToMistake = () => !parsed.isValid && select(field.current, text, parsed.line, parsed.column)
  return (
    <div class="json-editor">
      <label for={id}>{label}</label>
      <textarea
        ref={field}
        id={id}
        rows={rows}
        spellcheck={false}
        value={text}
        aria-invalid={!parsed.isValid || problem !== null}
        aria-describedby={`${id}-problem`}
        onInput={({ currentTarget: { value } }) => onChange(value, parseJsonText(value))}
      />
      <p id={`${id}-problem`} class="field-problem" role="status">
        {parsed.isValid ? (
          problem
        ) : (
          <>
            Not JSON: the mistake is in line {parsed.line}, column {parsed.column}.{' '}
            <button type="button" class="link" onClick={goToMistake}>
              Go there
            </button>
          </>
        )}
      </p>
    </div>
  )
}

/** Puts the cursor at a place of the text. */
function select(field: HTMLTextAreaElement | null, text: string, line: number, column: number): void {
  const lines = text.split('\n').slice(0, line - 1)
  const at = lines.reduce((sum, { length }) => sum + length + 1, 0) + column - 1
  field?.focus()
  field?.setSelectionRange(at, Math.min(text.length, at + 1))
}

/** Shows a body as a tree of JSON, as its text, or as its bytes, as far as the journal has them. */
import './entries.css'
import { useState } from 'preact/hooks'
import { visibleLines } from '../../../base/text/terminal-text.ts'
import { pretty } from '../model/entry-sections.ts'
import { byteSize } from '../model/formats.ts'
import { CopyButton } from './copy-button.tsx'
import { JsonTree } from './json-tree.tsx'

export interface BodyViewProps {
  /** The parsed body, or its text. */
  readonly payload: unknown
  /** The text that was sent, when the journal has it; otherwise a body has no view of its bytes. */
  readonly exact?: string | undefined
  /** The length of the whole body in bytes, when only its beginning is known. */
  readonly truncatedFrom?: number | undefined
  /** Names it for screen readers: `Request body`. */
  readonly label: string
}

type BodyForm = 'JSON' | 'Text' | 'Bytes'

export function BodyView({ payload, exact, truncatedFrom, label }: BodyViewProps) {
  const isTree = typeof payload === 'object' && payload !== null
  const forms: BodyForm[] = []
  if (isTree) forms.push('JSON')
  // The tree shows all of an ASCII text; other texts are compared letter by letter.
  if (!isTree || (exact !== undefined && !/^[\x20-\x7e\s]*$/.test(exact))) forms.push('Text')
  if (exact !== undefined) forms.push('Bytes')
  const [chosen, setChosen] = useState<BodyForm | null>(null)
  const form = chosen !== null && forms.includes(chosen) ? chosen : (forms[0] ?? 'Text')
  const text = exact ?? pretty(payload)
  return (
    <div class="body-view">
      <div class={forms.length < 2 ? 'body-view-head single' : 'body-view-head'}>
        {forms.length < 2 ? null : (
          <fieldset class="body-view-forms" aria-label={`Form of the ${label.toLowerCase()}`}>
            {forms.map(bodyForm => (
              <button
                key={bodyForm}
                type="button"
                class="quiet"
                aria-pressed={bodyForm === form}
                onClick={() => setChosen(bodyForm)}
              >
                {bodyForm}
              </button>
            ))}
          </fieldset>
        )}
        <CopyButton text={text} what={label.toLowerCase()} />
      </div>
      {truncatedFrom === undefined ? null : (
        <p class="body-view-truncated">
          The journal shows the beginning. The whole body has {byteSize(truncatedFrom)}.
        </p>
      )}
      {form === 'JSON' ? <JsonTree value={payload} label={label} /> : null}
      {form === 'Text' ? (
        <pre tabIndex={0} dir="auto">
          {visibleLines(text)}
        </pre>
      ) : null}
      {form === 'Bytes' ? <ByteView text={text} /> : null}
    </div>
  )
}

/** The bytes that are shown at first. */
const SHOWN_BYTES = 2_048
const PER_LINE = 16

function ByteView({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const bytes = new TextEncoder().encode(text)
  const end = isWhole ? bytes.length : Math.min(bytes.length, SHOWN_BYTES)
  const lines: string[] = []
  for (let from = 0; from < end; from += PER_LINE) {
    let [hex, chars] = ['', '']
    for (const byte of bytes.subarray(from, Math.min(from + PER_LINE, end))) {
      hex += `${byte.toString(16).padStart(2, '0')} `
      chars += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'
    }
    lines.push(`${from.toString(16).padStart(4, '0')}  ${hex.padEnd(48)} ${chars}`)
  }
  return (
    <>
      <p class="hint">{bytes.length} bytes, encoded as UTF-8.</p>
      <pre class="byte-view" tabIndex={0}>
        {lines.join('\n')}
      </pre>
      {end === bytes.length ? null : (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all {bytes.length} bytes
        </button>
      )}
    </>
  )
}

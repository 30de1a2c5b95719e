/** Shows a body as a tree of JSON, as its text, or as its bytes, as far as the journal has them. */
import './entries.css'
import { useState } from 'preact/hooks'
import { isTruncatedValue, pretty } from '../model/entry-sections.ts'
import { byteSize, visibleLines } from '../model/formats.ts'
import { CopyButton } from './copy-button.tsx'
import { JsonTree } from './json-tree.tsx'

export interface BodyViewProps {
  /** The parsed body, or its text. */
  readonly payload: unknown
  /** The text that was sent, when the journal has it; otherwise a body has no view of its bytes. */
  readonly exact?: string
  /** The length of the whole body in bytes, when only its beginning is known. */
  readonly truncatedFrom?: number
  /** Names it for screen readers: `Request body`. */
  readonly label: string
}

type BodyForm = 'JSON' | 'Text' | 'Bytes'

export function BodyView({ payload, exact, truncatedFrom, label }: BodyViewProps) {
  const isTree = typeof payload === 'object' && payload !== null && !isTruncatedValue(payload)
  const forms: readonly BodyForm[] = [
    ...(isTree ? (['JSON'] as const) : []),
    ...(isTree && exact === undefined ? [] : (['Text'] as const)),
    ...(exact === undefined ? [] : (['Bytes'] as const)),
  ]
  const [chosen, setChosen] = useState<BodyForm | null>(null)
  const form = chosen !== null && forms.includes(chosen) ? chosen : (forms[0] ?? 'Text')
  const text = exact ?? pretty(payload)
  return (
    <div class="body-view">
      <div class={forms.length < 2 ? 'body-view-head single' : 'body-view-head'}>
        {forms.length < 2 ? null : <FormChoice forms={forms} chosen={form} onChoose={setChosen} label={label} />}
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

interface FormChoiceProps {
  readonly forms: readonly BodyForm[]
  readonly chosen: BodyForm
  onChoose(form: BodyForm): void
  readonly label: string
}

function FormChoice({ forms, chosen, onChoose, label }: FormChoiceProps) {
  return (
    <fieldset class="body-view-forms" aria-label={`Form of the ${label.toLowerCase()}`}>
      {forms.map(form => (
        <button key={form} type="button" class="quiet" aria-pressed={form === chosen} onClick={() => onChoose(form)}>
          {form}
        </button>
      ))}
    </fieldset>
  )
}

/** As many bytes are shown at first. */
const SHOWN_BYTES = 2_048

function ByteView({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const bytes = new TextEncoder().encode(text)
  const lines = hexLines(bytes, isWhole ? bytes.length : SHOWN_BYTES)
  return (
    <>
      <p class="hint">{bytes.length} bytes, encoded as UTF-8.</p>
      <pre class="byte-view" tabIndex={0}>
        {lines.map(({ offset, hex, text: chars }) => `${offset}  ${hex.padEnd(48)} ${chars}`).join('\n')}
      </pre>
      {isWhole || bytes.length <= SHOWN_BYTES ? null : (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all {bytes.length} bytes
        </button>
      )}
    </>
  )
}

interface HexLine {
  /** Of the first byte, in hexadecimal. */
  readonly offset: string
  readonly hex: string
  /** One character per byte; a point for one that is not printable ASCII. */
  readonly text: string
}

const PER_LINE = 16

/** The lines for the first `most` bytes. */
function hexLines(bytes: Uint8Array, most: number): HexLine[] {
  const lines: HexLine[] = []
  for (let from = 0; from < Math.min(bytes.length, most); from += PER_LINE) {
    const part = [...bytes.subarray(from, Math.min(from + PER_LINE, most))]
    lines.push({
      offset: from.toString(16).padStart(4, '0'),
      hex: part.map(byte => byte.toString(16).padStart(2, '0')).join(' '),
      text: part.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(''),
    })
  }
  return lines
}

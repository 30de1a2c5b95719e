/** Shows files: attachments of messages with a preview, and files that are about to be sent. Nothing is ever rendered as a page. */
import './chat.css'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { AttachmentView } from '../../../platform/rules/transcript.ts'
import type { ControlClient } from '../client/control.ts'
import { fileSegment, previewOf } from '../model/chat-format.ts'
import { byteSize } from '../model/formats.ts'

export interface ChatFileProps {
  readonly file: AttachmentView
  readonly client: ControlClient
}

/** A file that the server does not have any more. */
export function LostFile({ file: { name, type, size_kb } }: Pick<ChatFileProps, 'file'>) {
  return (
    <p class="chat-file">
      <bdi>{name}</bdi>
      <small dir="ltr">
        {type}, {byteSize(size_kb * 1024)}
      </small>
    </p>
  )
}

/** Larger files are loaded on request. */
const LOADED_KB = 5 * 1024

/** The bytes come from the control API, so that looking at a file is no call of the platform. */
export function ChatFile({ file, client }: ChatFileProps) {
  const { name, type, size_kb } = file
  const [isWanted, setWanted] = useState(size_kb <= LOADED_KB)
  const [isBroken, setBroken] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const kind = isBroken ? null : previewOf(type)
  const address = useFile(client, file, kind !== null && isWanted, setProblem)
  const download = () => saveFile(client, file).catch((error: unknown) => setProblem(messageOf(error)))
  return (
    <figure class="chat-file">
      {address === null ? null : <Preview kind={kind} address={address} name={name} onBroken={() => setBroken(true)} />}
      <figcaption>
        <button type="button" class="link" aria-label={`Download ${name}`} onClick={download}>
          <bdi>{name}</bdi>
        </button>
        <small dir="ltr">
          {type}, {byteSize(size_kb * 1024)}
        </small>
        {kind === null || isWanted ? null : (
          <button type="button" class="link" onClick={() => setWanted(true)}>
            Show a preview
          </button>
        )}
      </figcaption>
      {problem === null ? null : <p class="file-problem">{problem}</p>}
    </figure>
  )
}

/** An address of the bytes in this page, once they are loaded. */
function useFile(
  client: ControlClient,
  file: AttachmentView,
  isWanted: boolean,
  onProblem: (text: string) => void,
): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (!isWanted) return
    const ended = new AbortController()
    const made: string[] = []
    loadFile(client, file, file.type, ended.signal)
      .then(blob => made.push(URL.createObjectURL(blob)) && setAddress(made[0] ?? null))
      .catch((error: unknown) => ended.signal.aborted || onProblem(messageOf(error)))
    return () => {
      ended.abort()
      for (const one of made) URL.revokeObjectURL(one)
    }
  }, [client, file.url, isWanted])
  return address
}

async function loadFile(
  client: ControlClient,
  { url }: AttachmentView,
  type: string,
  signal?: AbortSignal,
): Promise<Blob> {
  const response = await fetch(client.url(`/files/${fileSegment(url) ?? ''}`), {
    headers: client.headers(),
    ...(signal && { signal }),
  })
  if (!response.ok) throw new Error(`The server does not have this file: status ${response.status}.`)
  return new Blob([await response.arrayBuffer()], { type })
}

/** Without its type, so that the browser only saves it. */
async function saveFile(client: ControlClient, file: AttachmentView): Promise<void> {
  const address = URL.createObjectURL(await loadFile(client, file, 'application/octet-stream'))
  const link = document.createElement('a')
  link.href = address
  link.download = file.name
  link.click()
  URL.revokeObjectURL(address)
}

interface PreviewProps {
  readonly kind: ReturnType<typeof previewOf>
  readonly address: string
  readonly name: string
  onBroken(): void
}

function Preview({ kind, address, name, onBroken }: PreviewProps) {
  if (kind === 'image') return <img src={address} alt={name} onError={onBroken} />
  // biome-ignore-start lint/a11y/useMediaCaption: the files of users have no captions
  if (kind === 'audio') return <audio src={address} controls aria-label={name} onError={onBroken} />
  if (kind === 'video') return <video src={address} controls aria-label={name} onError={onBroken} />
  // biome-ignore-end lint/a11y/useMediaCaption: above
  return null
}

export interface ChosenFilesProps {
  readonly files: readonly File[]
  onRemove(file: File): void
}

/** The files that the next message takes along. */
export function ChosenFiles({ files, onRemove }: ChosenFilesProps) {
  return (
    <ul class="chosen-files" aria-label="Files to send">
      {files.map((file, index) => (
        <li key={index}>
          <Thumbnail file={file} />
          <bdi>{file.name}</bdi>
          <small dir="ltr">
            {file.type || 'unknown type'}, {byteSize(file.size)}
          </small>
          <button type="button" class="quiet" aria-label={`Remove ${file.name}`} onClick={() => onRemove(file)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  )
}

function Thumbnail({ file }: { readonly file: File }) {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (previewOf(file.type) !== 'image') return
    const made = URL.createObjectURL(file)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return address === null ? null : <img src={address} alt="" />
}

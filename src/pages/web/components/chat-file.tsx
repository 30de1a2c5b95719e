/** Shows files: attachments of messages with a preview, and files that are about to be sent. Nothing is ever rendered as a page. */
import './chat.css'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { AttachmentView } from '../../../platform/rules/transcript.ts'
import type { ControlClient } from '../client/control.ts'
import { fileSegment, previewOf } from '../model/chat-format.ts'
import { byteSize } from '../model/formats.ts'
import { saveFile } from './save-file.ts'

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
  const [isAsked, setAsked] = useState(size_kb <= LOADED_KB)
  const [isBroken, setBroken] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [bytes, setBytes] = useState<Blob | null>(null)
  const address = useAddress(bytes)
  const kind = isBroken ? null : previewOf(type)
  const isLoaded = kind !== null && isAsked
  const props = { 'aria-label': name, onError: () => setBroken(true) }
  useEffect(() => {
    if (!isLoaded) return
    const ended = new AbortController()
    const { signal } = ended
    loadFile(client, file, type, signal).then(
      blob => signal.aborted || setBytes(blob),
      (error: unknown) => signal.aborted || setProblem(messageOf(error)),
    )
    return () => ended.abort()
  }, [client, file.url, isLoaded])
  /** Leaves out the type, so that the browser only saves the file. */
  const download = () =>
    loadFile(client, file, 'application/octet-stream').then(
      blob => saveFile(name, blob),
      (error: unknown) => setProblem(messageOf(error)),
    )
  return (
    <figure class="chat-file">
      {address !== null && kind === 'image' ? <img src={address} alt={name} onError={props.onError} /> : null}
      {/* biome-ignore-start lint/a11y/useMediaCaption: the files of users have no captions */}
      {address !== null && kind === 'audio' ? <audio src={address} controls {...props} /> : null}
      {address !== null && kind === 'video' ? <video src={address} controls {...props} /> : null}
      {/* biome-ignore-end lint/a11y/useMediaCaption: above */}
      <figcaption>
        <button type="button" class="link" aria-label={`Download ${name}`} onClick={download}>
          <bdi>{name}</bdi>
        </button>
        <small dir="ltr">
          {type}, {byteSize(size_kb * 1024)}
        </small>
        {kind === null || isAsked ? null : (
          <button type="button" class="link" onClick={() => setAsked(true)}>
            Show a preview
          </button>
        )}
      </figcaption>
      {problem === null ? null : <p class="file-problem">{problem}</p>}
    </figure>
  )
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
  const address = useAddress(previewOf(file.type) === 'image' ? file : null)
  return address === null ? null : <img src={address} alt="" />
}

/** An address of the bytes in this page; null until there are any. */
function useAddress(bytes: Blob | null): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (bytes === null) return
    const objectUrl = URL.createObjectURL(bytes)
    setAddress(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [bytes])
  return address
}

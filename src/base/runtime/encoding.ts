/** Converts between texts and UTF-8, base64 and hexadecimal on every runtime. */

export const hexToBase64 = (hex: string): string =>
  btoa(hex.replace(/../g, pair => String.fromCharCode(Number.parseInt(pair, 16))))

export const base64ToHex = (base64: string): string =>
  [...atob(base64)].map(char => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Node decodes ASCII faster, and most bodies are ASCII. */
const node = globalThis.process?.getBuiltinModule?.('node:buffer') ?? null

/** Throws a TypeError for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (node === null || !node.isAscii(bytes)) return decoder.decode(bytes)
  return node.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

const encoder = new TextEncoder()

/** Bytes for many texts, into which Node writes each in half of the time that an encoder needs. */
export const createBytes = (length: number): Uint8Array =>
  node === null ? new Uint8Array(length) : node.Buffer.alloc(length)

/** Writes the text at a place, and returns its length in bytes. The caller leaves room for three bytes of each character. */
export function writeUtf8(text: string, into: Uint8Array, at: number): number {
  if (node?.Buffer.isBuffer(into)) return into.write(text, at)
  return encoder.encodeInto(text, into.subarray(at)).written
}

/** A text of one character per byte, which `btoa` takes. */
export function latin1Text(bytes: Uint8Array): string {
  if (node !== null) return node.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

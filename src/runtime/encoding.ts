/** Decodes UTF-8, base64 and hexadecimal on every runtime. */

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

/** Converts between texts and UTF-8, base64 and hexadecimal on every runtime. */

export const hexToBase64 = (hex: string): string =>
  btoa(hex.replace(/../g, pair => String.fromCharCode(Number.parseInt(pair, 16))))

export const base64ToHex = (base64: string): string =>
  [...atob(base64)].map(char => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')

const node = globalThis.process?.getBuiltinModule?.('node:buffer') ?? null

/** A text of one character per byte, which `btoa` takes. */
export function latin1Text(bytes: Uint8Array): string {
  if (node !== null) return node.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

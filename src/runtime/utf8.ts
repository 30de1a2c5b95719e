/** Decodes UTF-8 strictly. */
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Node decodes ASCII faster, and most bodies are ASCII. */
const isAscii = globalThis.process?.getBuiltinModule?.('node:buffer')?.isAscii ?? null

/** Throws a TypeError for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isAscii !== null && bytes instanceof Buffer && isAscii(bytes)) return bytes.toString('latin1')
  return decoder.decode(bytes)
}

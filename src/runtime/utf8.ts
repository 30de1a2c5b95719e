/** Bytes as text, and only if they are UTF-8. */
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Node knows a faster way for plain ASCII, which most bodies are; elsewhere the decoder does all of it. */
const isAscii = globalThis.process?.getBuiltinModule?.('node:buffer')?.isAscii ?? null

/** Throws a TypeError for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isAscii !== null && bytes instanceof Buffer && isAscii(bytes)) return bytes.toString('latin1')
  return decoder.decode(bytes)
}

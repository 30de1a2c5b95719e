/** Reads percent-encoded parts of URLs. */

/** The decoded part, or the part itself when its encoding is not valid. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

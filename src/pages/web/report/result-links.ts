/** Writes and reads addresses in the page of a report. */

/** `#happy-path`, `#happy-path/11`. */
export const linkTo = (slug: string, seq?: number): string =>
  `#${encodeURIComponent(slug)}${seq === undefined ? '' : `/${seq}`}`

/** The parts of such an address. */
export function parseLink(hash: string): { readonly slug: string; readonly seq: number | null } {
  const [, slug = '', seq] = /^#(.*?)(?:\/(\d+))?$/.exec(hash) ?? []
  try {
    return { slug: decodeURIComponent(slug), seq: seq === undefined ? null : Number(seq) }
  } catch {
    return { slug, seq: null }
  }
}

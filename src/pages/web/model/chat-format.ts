/** Decides how parts of a chat are shown: which addresses are safe, which direction a language has, and initials for pictures. */

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ks', 'ps', 'sd', 'ug', 'ur', 'yi'])

export const directionOf = (language: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(language.toLowerCase().split(/[-_]/)[0] ?? '') ? 'rtl' : 'ltr'

const OPENED_PROTOCOLS = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/** The address of a link that may be opened, and where it leads; null for scripts and everything unknown. */
export function safeLink(address: unknown): { readonly href: string; readonly target: string } | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { href, protocol, host, pathname } = new URL(address)
  if (!OPENED_PROTOCOLS.has(protocol)) return null
  return { href, target: host === '' ? pathname : host }
}

const PICTURE = /^data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** The address of a picture in the message or on this server; null for pictures of other servers, which are not loaded. */
export function pictureAt(address: string | null | undefined, origin: URL): string | null {
  if (address === null || address === undefined) return null
  if (PICTURE.test(address)) return address
  return URL.canParse(address) && new URL(address).origin === origin.origin ? address : null
}

/** The segment of the address of a file that names it; null when the address is not one of the platform. */
export const fileSegment = (url: string): string | null => /\/files\/([^/?#]+)\/[^/]*$/.exec(url)?.[1] ?? null

export type FilePreview = 'image' | 'audio' | 'video' | null

/** Types that a browser shows without running anything. Others are links. */
export function previewOf(type: string): FilePreview {
  const [media = '', form = ''] = type.toLowerCase().split(/[/;]/)
  if (media === 'image') return /^(png|jpeg|gif|webp|avif|bmp|x-icon)$/.test(form.trim()) ? 'image' : null
  return media === 'audio' || media === 'video' ? media : null
}

/** The first letters of the first and the last word: `Kari Nordmann` gives `KN`. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/)
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return letters
    .map(word => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}

/** One of six colours, the same for the same name. */
export function hueOf(name: string): string {
  let sum = 0
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973
  return `hue-${(sum % 6) + 1}`
}

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' })

/** `Monday, January 1, 2024`, in UTC as all times of the page. */
export const dateText = (time: string): string => DATE.format(new Date(time))

/** `09:00`. */
export const timeText = (time: string): string => time.slice(11, 16)

export const dayOf = (time: string): string => time.slice(0, 10)

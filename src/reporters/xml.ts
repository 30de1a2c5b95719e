/** Elements of XML 1.0 as text. Whatever the texts hold, what comes out is well-formed. */

/** What XML 1.0 allows in a document, however it is written; anything else becomes U+FFFD. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const allowed = (text: string) => text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, char => NAMED[char]!)

/** Carriage returns would be read as line ends. */
export const xmlText = (text: string): string => allowed(text).replaceAll('\r', '&#13;')
/** White space other than blanks would be read as blanks. */
export const xmlAttribute = (text: string): string =>
  allowed(text).replace(/[\t\n\r]/g, char => `&#${char.charCodeAt(0)};`)

type Attributes = Readonly<Record<string, string | number | null>>

/** Children are XML already; attributes that are null are left out. */
export function element(name: string, attributes: Attributes, children: readonly string[] = []): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== null)
  const head = [name, ...given.map(([key, value]) => `${key}="${xmlAttribute(String(value))}"`)].join(' ')
  return children.length === 0 ? `<${head}/>` : `<${head}>${children.join('')}</${name}>`
}

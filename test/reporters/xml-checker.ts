/** A strict reader of XML 1.0, as much of it as a report may use: no DOCTYPE, comments or CDATA. Throws at the first fault. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
  /** Of itself, without its children's. */
  readonly text: string
}

const ILLEGAL = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const TAG = /^<([A-Za-z][\w-]*)((?:\s+[A-Za-z][\w-]*="[^"<]*")*)\s*(\/?)>/

/** Line ends are one character for a reader, before anything else. */
export function readXml(written: string): Element {
  const source = written.replace(/\r\n?/g, '\n')
  const illegal = ILLEGAL.exec(source)
  if (illegal !== null) throw new Error(`illegal character ${illegal[0].charCodeAt(0)} at ${illegal.index}`)
  const head = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(source)
  if (head === null) throw new Error('no XML declaration')
  const { element, end } = readElement(source, head[0].length)
  if (source.slice(end).trim() !== '') throw new Error(`something after the root at ${end}`)
  return element
}

function readElement(source: string, from: number): { element: Element; end: number } {
  const tag = TAG.exec(source.slice(from, from + 100_000))
  if (tag === null) throw new Error(`no start tag at ${from}: ${source.slice(from, from + 40)}`)
  const [whole, name, inner, empty] = tag as unknown as [string, string, string, string]
  const attributes = readAttributes(inner)
  let at = from + whole.length
  if (empty === '/') return { element: { name, attributes, children: [], text: '' }, end: at }
  const children: Element[] = []
  let text = ''
  for (;;) {
    const next = source.indexOf('<', at)
    if (next === -1) throw new Error(`${name} is never closed`)
    text += readText(source.slice(at, next))
    if (source.startsWith('</', next)) {
      if (!source.startsWith(`</${name}>`, next)) throw new Error(`${name} is closed by another at ${next}`)
      return { element: { name, attributes, children, text }, end: next + name.length + 3 }
    }
    const child = readElement(source, next)
    children.push(child.element)
    at = child.end
  }
}

function readAttributes(source: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, name, value] of source.matchAll(/([A-Za-z][\w-]*)="([^"<]*)"/g)) {
    if (name! in found) throw new Error(`${name} is given twice`)
    found[name!] = readText(value!.replace(/[\t\n\r]/g, ' '))
  }
  return found
}

function readText(source: string): string {
  if (source.includes(']]>')) throw new Error('a bare ]]>')
  return source.replace(/&(?:#(\d+)|(\w+))?(;?)/g, (reference, code, name, end) => {
    const char = code !== undefined ? String.fromCodePoint(Number(code)) : ENTITIES[name ?? '']
    if (char === undefined || end !== ';' || ILLEGAL.test(char)) throw new Error(`bad reference ${reference}`)
    return char
  })
}

export const all = (root: Element, name: string): Element[] => [
  ...(root.name === name ? [root] : []),
  ...root.children.flatMap(child => all(child, name)),
]

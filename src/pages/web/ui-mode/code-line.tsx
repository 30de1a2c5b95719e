/** Shows one line of YAML, JSON or a module with colours by token. */
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'

/** A comment begins the line or follows a space; a key, a number or a word does not begin inside of a word. */
const TOKENS = new RegExp(
  [
    /(?<comment>(?<=^|\s)(?:#|\/\/).*$)/,
    /(?<placeholder>\$\([^)]*\))/,
    /(?<key>(?<![\w$.])(?:"[^"]*"|[\w$.-]+)(?=\s*:(?:\s|$)))/,
    /(?<text>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)/,
    /(?<number>(?<![\w$.])-?\d+(?:\.\d+)?(?:ms|s|m|h|kb|mb)?(?![\w.-]))/,
    /(?<word>(?<![\w$.])(?:true|false|null|yes|no|OPEN|CLOSED)(?![\w-]))/,
    /(?<mark>[-{}[\],:|>&*?!]+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** Of a line. */
const MAX_CHARS = 500

/** It is no parser: a wrong colour is no error. */
export function CodeLine({ text }: { readonly text: string }) {
  const parts = useMemo(() => {
    const line = text.slice(0, MAX_CHARS)
    const nodes: ComponentChildren[] = []
    let end = 0
    for (const { 0: token, index, groups = {} } of line.matchAll(TOKENS)) {
      const kind = Object.keys(groups).find(name => groups[name] !== undefined)
      nodes.push(visible(line.slice(end, index)), <span class={`token-${kind}`}>{visible(token)}</span>)
      end = index + token.length
    }
    return [...nodes, visible(line.slice(end))]
  }, [text])
  return <>{parts}</>
}

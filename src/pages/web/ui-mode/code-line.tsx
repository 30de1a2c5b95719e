/** Shows one line of YAML, JSON or a module with colours by token. */
import { useMemo } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'

type TokenKind = 'comment' | 'key' | 'text' | 'number' | 'word' | 'mark' | 'placeholder' | 'plain'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['comment', /#.*$|\/\/.*$/y],
  ['placeholder', /\$\([^)]*\)/y],
  ['key', /(?:"[^"]*"|[\w$.-]+)(?=\s*:(?:\s|$))/y],
  ['text', /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y],
  ['number', /-?\d+(?:\.\d+)?(?:ms|s|m|h|kb|mb)?(?![\w.-])/y],
  ['word', /(?:true|false|null|yes|no|OPEN|CLOSED)(?![\w-])/y],
  ['mark', /[-{}[\],:|>&*?!]+/y],
]

/** Comments of YAML begin the line or follow a space; those of modules have two slashes. */
const startsComment = (line: string, at: number): boolean => at === 0 || /\s/.test(line[at - 1] ?? '')

function tokensOf(line: string): Token[] {
  const tokens: Token[] = []
  let plain = ''
  let at = 0
  const flush = () => {
    if (plain !== '') tokens.push({ kind: 'plain', text: plain })
    plain = ''
  }
  while (at < line.length) {
    // A token begins at the start of a word, not inside of one.
    const token = !/[\w$.]/.test(line[at - 1] ?? '') || /[^\w]/.test(line[at] ?? '') ? tokenAt(line, at) : null
    if (token === null) plain += line[at++]
    else {
      flush()
      tokens.push(token)
      at += token.text.length
    }
  }
  flush()
  return tokens
}

function tokenAt(line: string, at: number): Token | null {
  for (const [kind, pattern] of PATTERNS) {
    if (kind === 'comment' && !startsComment(line, at)) continue
    pattern.lastIndex = at
    const text = pattern.exec(line)?.[0] ?? ''
    if (text !== '') return { kind, text }
  }
  return null
}

/** Of a line. */
const MAX_CHARS = 500

/** It is no parser: a wrong colour is no error. */
export function CodeLine({ text }: { readonly text: string }) {
  const tokens = useMemo(() => tokensOf(text.slice(0, MAX_CHARS)), [text])
  return (
    <>
      {tokens.map((token, index) =>
        token.kind === 'plain' ? (
          visible(token.text)
        ) : (
          <span key={index} class={`token-${token.kind}`}>
            {visible(token.text)}
          </span>
        ),
      )}
    </>
  )
}

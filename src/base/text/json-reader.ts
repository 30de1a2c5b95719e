/**
 * Parses JSON that arrives in parts. A long list or object is parsed a few children at a time, so that a long text neither
 * has to be one string, which V8 limits to 512 MB, nor blocks the process.
 */

/** How much text is parsed together; a text that is not longer is parsed whole. */
const BATCH_CHARS = 65_536

/** The text nests arrays and objects in more levels than allowed. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError'
}

export interface JsonReader {
  /** Takes the next part. Throws a SyntaxError, or a `JsonDepthError`. */
  write(part: string): void
  /** Returns the value after the last part. Throws a SyntaxError. */
  end(): unknown
}

/** An array or object that is not closed yet. Places are numbers of characters from the start of the text. */
interface Container {
  readonly isArray: boolean
  readonly bracketAt: number
  /** Where the children begin that are not in `value` yet. */
  from: number
  lastComma: number
  /** The children that are parsed already; null when none is. */
  value: unknown[] | Record<string, unknown> | null
  /** The name of the child that is not closed yet; null when it is not known. */
  openName: string | null
  /** The last child is in `value`, and no comma has followed. */
  isChildStored: boolean
}

export function createJsonReader(levels: number): JsonReader {
  const stack: Container[] = []
  const pending = createPendingText()
  const strings = createStringScanner()
  let root: { readonly value: unknown } | null = null

  function open(at: number, isArray: boolean): void {
    if (root !== null) throw wrongBetween(at, at + 1)
    const from = at + 1
    stack.push({ isArray, bracketAt: at, from, lastComma: -1, value: null, openName: null, isChildStored: false })
    if (stack.length > levels) throw new JsonDepthError(`it is nested more than ${levels} levels deep`)
  }

  function comma(at: number): void {
    const container = stack.at(-1)
    if (container === undefined) return
    container.lastComma = at
    if (container.isChildStored) {
      expectBlank(container.from, at)
      container.from = at + 1
      container.isChildStored = false
    }
    if (at - pending.start < BATCH_CHARS) return
    for (const [depth, one] of stack.entries()) store(one, stack[depth + 1])
    pending.dropBefore(at + 1)
  }

  /** Parses the children before the last comma, and the name of the child that is not closed yet. */
  function store(container: Container, openChild: Container | undefined): void {
    if (container === stack[0] && container.value === null) expectBlank(pending.start, container.bracketAt)
    container.value ??= container.isArray ? [] : {}
    if (container.lastComma >= container.from) {
      storeChildren(container, container.lastComma)
      container.from = container.lastComma + 1
    }
    if (openChild === undefined || openChild.value !== null) return
    const before = pending.between(container.from, openChild.bracketAt)
    const [name = ''] = Object.keys(parsePart(container, `${before}null`, container.from))
    container.openName = name
  }

  function storeChildren(container: Container, to: number): void {
    if (container.isChildStored) return expectBlank(container.from, to)
    const children = parsePart(container, pending.between(container.from, to), container.from)
    const names = Object.keys(children)
    if (names.length === 0) throw wrongBetween(container.from, to)
    for (const name of names) addChild(container, name, Reflect.get(children, name))
  }

  function close(at: number, isArray: boolean): void {
    const container = stack.pop()
    if (container?.isArray !== isArray) throw wrongBetween(at, at + 1)
    if (container.value === null) return
    storeChildren(container, at)
    const parent = stack.at(-1)
    if (parent === undefined) root = { value: container.value }
    else {
      addChild(parent, parent.openName ?? '', container.value)
      parent.from = at + 1
      parent.isChildStored = true
    }
    pending.dropBefore(at + 1)
  }

  function expectBlank(from: number, to: number): void {
    if (!/^[ \t\r\n]*$/.test(pending.between(from, to))) throw wrongBetween(from, to)
  }

  return {
    write(part) {
      const start = pending.end
      pending.add(part)
      for (let at = 0; at < part.length; at++) {
        at = strings.skip(part, at)
        const code = part.charCodeAt(at)
        if (code === COMMA) comma(start + at)
        else if (code === ARRAY_START || code === OBJECT_START) open(start + at, code === ARRAY_START)
        else if (code === ARRAY_END || code === OBJECT_END) close(start + at, code === ARRAY_END)
      }
    },
    end() {
      const { start, end } = pending
      if (root === null && start === 0) return JSON.parse(pending.between(0, end))
      if (root === null) throw new SyntaxError(`it ends too early, after ${end} characters`)
      expectBlank(start, end)
      return root.value
    },
  }
}

const [COMMA, ARRAY_START, ARRAY_END, OBJECT_START, OBJECT_END, QUOTE, BACKSLASH] = [44, 91, 93, 123, 125, 34, 92]

const wrongBetween = (from: number, to: number) =>
  new SyntaxError(`a value between the characters ${from} and ${to} is wrong`)

function parsePart({ isArray }: Container, text: string, from: number): object {
  try {
    return JSON.parse(isArray ? `[${text}]` : `{${text}}`)
  } catch {
    throw wrongBetween(from, from + text.length)
  }
}

/** Makes own fields, as `JSON.parse` does: `__proto__` is a name like any other. */
function addChild({ value }: Container, name: string, child: unknown): void {
  if (Array.isArray(value)) value.push(child)
  else Object.defineProperty(value, name, { value: child, writable: true, enumerable: true, configurable: true })
}

/** The end of the text so far: what is not parsed yet. */
function createPendingText() {
  let parts: string[] = []
  let start = 0
  let end = 0
  const joined = () => {
    if (parts.length !== 1) parts = [parts.join('')]
    return parts[0] ?? ''
  }
  return {
    get start() {
      return start
    },
    get end() {
      return end
    },
    add(part: string) {
      parts.push(part)
      end += part.length
    },
    between: (from: number, to: number) => joined().slice(from - start, to - start),
    dropBefore(at: number) {
      parts = [joined().slice(at - start)]
      start = at
    },
  }
}

/** Finds the ends of strings, which may lie in a later part. */
function createStringScanner() {
  let isOpen = false
  let isEscaping = false

  /** The place of the quote that ends a string; the length of the part when none does. */
  function endIn(part: string, from: number): number {
    let at = isEscaping ? from + 1 : from
    isEscaping = false
    for (;;) {
      const quote = part.indexOf('"', at)
      const end = quote === -1 ? part.length : quote
      let first = end
      while (first > at && part.charCodeAt(first - 1) === BACKSLASH) first--
      const isEscapedQuote = (end - first) % 2 === 1
      if (quote === -1) isEscaping = isEscapedQuote
      if (quote === -1 || !isEscapedQuote) return end
      at = end + 1
    }
  }

  return {
    /** The place of the next character outside of strings, from `at` on. */
    skip(part: string, at: number): number {
      let next = at
      while (next < part.length && (isOpen || part.charCodeAt(next) === QUOTE)) {
        const end = endIn(part, isOpen ? next : next + 1)
        isOpen = end === part.length
        next = end + 1
      }
      return next
    },
  }
}

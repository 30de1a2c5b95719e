/** Finds a text on which a regular expression takes too long: generates texts that repeat its parts, and tries them. */
import { limitPattern, SlowPatternError } from '../../../base/runtime/patterns.ts'
import { canInterrupt } from '../../../base/runtime/time-limit.ts'

/** Returns null when no text is slow, and where a slow test could not be interrupted. Reads the pattern as data. */
export function slowText(pattern: RegExp): string | null {
  const key = String(pattern)
  const known = results.get(key)
  if (known !== undefined) return known
  const found = canInterrupt() ? findSlowText(pattern) : null
  results.set(key, found)
  return found
}

/** By pattern, because the schema checks a value more than once. */
const results = new Map<string, string | null>()

function findSlowText(pattern: RegExp): string | null {
  for (const text of attacksOn(pattern)) {
    try {
      limitPattern(pattern, text.length, () => new RegExp(pattern).test(text))
    } catch (error) {
      if (error instanceof SlowPatternError) return text
      throw error
    }
  }
  return null
}

/** An exponential or cubic pattern takes longer than its limit on a text of this length, a quadratic one does not. */
const TEXT_LENGTH = 1_500
const MAX_TEXTS = 60
/** What follows the repetition, so that the match fails and the search goes back. */
const ENDINGS = ['\u0001', '\n\u0001', '']

function attacksOn(pattern: RegExp): string[] {
  const reader = new PatternReader(pattern)
  const attacks = repetitionsIn(reader.read(), '').flatMap(({ before, pumps }) =>
    pumps.flatMap(pump => {
      const repeated = pump.repeat(Math.ceil(TEXT_LENGTH / pump.length))
      return ENDINGS.map(ending => `${before}${repeated}${ending}`)
    }),
  )
  return [...new Set(attacks)].slice(0, MAX_TEXTS)
}

interface Repetition {
  /** A text that the pattern accepts in front. */
  readonly before: string
  readonly pumps: readonly string[]
}

function repetitionsIn(alternatives: Alternatives, before: string): Repetition[] {
  return alternatives.flatMap(parts => {
    let front = before
    return parts.flatMap(part => {
      const own = part.isRepeated ? [{ before: front, pumps: part.pumps }] : []
      const inside = repetitionsIn(part.inner, front)
      front += part.sample
      return [...own, ...inside]
    })
  })
}

/** A piece of a pattern with its quantifier. */
interface Part {
  /** A text that it accepts; empty where none is known. */
  readonly sample: string
  readonly isRepeated: boolean
  /** Texts that it accepts once without its quantifier. */
  readonly pumps: readonly string[]
  /** The content of a group. */
  readonly inner: Alternatives
}

type Alternatives = readonly (readonly Part[])[]

const GROUP = /\((?:\?(?:<?[=!]|<[^>]*>|[a-z-]*:))?/y
const CLASS = /\[(?:\\.|[^\]\\])*\]/sy
const NESTED_CLASS = /\[(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\]\\])*\]/sy
const ESCAPE = /\\(?:[pPu]\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|k<[^>]*>|c[a-z]|[1-9]\d*|.)/isuy
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)\d*\})\??/y
const MAX_CHARACTERS = 24

class PatternReader {
  readonly #source: string
  readonly #flags: string
  /** Frequent characters, and those of the pattern. */
  readonly #characters: readonly string[]
  #at = 0

  constructor({ source, flags }: RegExp) {
    this.#source = source
    this.#flags = flags.replace(/[gy]/g, '')
    this.#characters = [...new Set(['a', '0', ' ', 'A', '.', '-', '_', '/', '\n', ...source])].slice(0, MAX_CHARACTERS)
  }

  read(): Alternatives {
    const alternatives = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      alternatives.push(this.#sequence())
    }
    return alternatives
  }

  #sequence(): Part[] {
    const parts: Part[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) parts.push(this.#part())
    return parts
  }

  #part(): Part {
    const start = this.#at
    const isLookaround = /^\(\?<?[=!]/.test(this.#source.slice(start, start + 4))
    const inner = this.#source[start] === '(' ? this.#group() : this.#atom()
    const pumps = this.#textsOf(this.#source.slice(start, this.#at), inner)
    const [quantifier, symbol, min, comma] = this.#take(QUANTIFIER) ?? []
    const least = quantifier === undefined || symbol === '+' ? 1 : Number(min ?? 0)
    return {
      sample: isLookaround ? '' : (pumps[0] ?? '').repeat(Math.min(least, TEXT_LENGTH)),
      isRepeated: symbol === '*' || symbol === '+' || comma === ',',
      pumps,
      inner,
    }
  }

  #group(): Alternatives {
    this.#take(GROUP)
    const inner = this.read()
    this.#at++
    return inner
  }

  #atom(): Alternatives {
    const isNested = this.#flags.includes('v')
    const taken = this.#take(isNested ? NESTED_CLASS : CLASS) ?? this.#take(ESCAPE)
    if (taken === null) this.#at += String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0).length
    return []
  }

  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found !== null) this.#at = expression.lastIndex
    return found
  }

  /** Samples of the alternatives, and single characters: those which several alternatives accept are the slow ones. */
  #textsOf(source: string, inner: Alternatives): string[] {
    const samples = inner.map(parts => parts.map(({ sample }) => sample).join(''))
    return [...new Set([...samples, ...this.#accepted(source)])].filter(text => text !== '')
  }

  #accepted(source: string): string[] {
    try {
      const whole = new RegExp(`^(?:${source})$`, this.#flags)
      return this.#characters.filter(character => whole.test(character))
    } catch {
      // A part with a reference to a group of another part is no pattern by itself.
      return []
    }
  }
}

/** Checks YAML and JSON text against the budgets of files before values are made from it. */
import {
  type Alias,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isNode,
  isPair,
  Lexer,
  type LineCounter,
  type Node,
  Parser,
} from 'yaml'
import { BUDGETS } from './budgets.ts'
import type { YamlMistake } from './yaml-mistakes.ts'

/** A file costs more than it may. */
export class BudgetError extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** The tokens of YAML text. Throws `BudgetError`. */
export function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  let aliases = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (!/^[\s#]/.test(lexeme)) count++
    if (/^[*&!]/.test(lexeme) && ++aliases > BUDGETS.aliases)
      throw new BudgetError(
        `the file has more than ${BUDGETS.aliases} aliases (*name), anchors (&name) and tags (!name)`,
        parser.offset,
      )
    if (count > BUDGETS.tokens)
      throw new BudgetError(
        `the file has more than ${BUDGETS.tokens} keys, values and signs; split it into several files`,
        parser.offset,
      )
    yield* parser.next(lexeme)
    // The stack also holds the document and the current scalar.
    if (parser.stack.length > BUDGETS.nesting + 2)
      throw new BudgetError(`is nested more than ${BUDGETS.nesting} levels deep`, parser.offset)
  }
  yield* parser.end()
}

/** Finds the first alias that contains itself or makes the document too large. Lost aliases are ignored. */
export function aliasMistakes({ contents }: Document): YamlMistake[] {
  const state: AliasState = { sizes: new Map(), open: new Set() }
  try {
    sizeOf(contents, state)
    return []
  } catch (error) {
    if (error instanceof BudgetError) return [error]
    throw error
  }
}

interface AliasState {
  /** How many nodes an anchor stands for. */
  readonly sizes: Map<string, number>
  /** Anchors around the current node. */
  readonly open: Set<string>
}

/** The number of nodes that a node stands for. */
function sizeOf(node: unknown, state: AliasState): number {
  if (isPair(node)) return sizeOf(node.key, state) + sizeOf(node.value, state)
  if (!isNode(node)) return 0
  const size = isAlias(node) ? sizeOfAlias(node, state) : sizeOfValue(node, state)
  if (size > BUDGETS.nodes)
    throw new BudgetError(
      `the file has too many aliases of aliases, which stand for more than ${BUDGETS.nodes} values; write some of the aliases (*name) out`,
      offsetOf(node),
    )
  return size
}

function sizeOfAlias(node: Alias, state: AliasState): number {
  if (state.open.has(node.source))
    throw new BudgetError(`*${node.source} is inside of &${node.source}, so it would contain itself`, offsetOf(node))
  return state.sizes.get(node.source) ?? 1
}

function sizeOfValue(node: Exclude<Node, Alias>, state: AliasState): number {
  const { anchor } = node
  if (anchor !== undefined) state.open.add(anchor)
  const items: readonly unknown[] = isCollection(node) ? node.items : []
  const size = items.reduce<number>((sum, item) => sum + sizeOf(item, state), 1)
  if (anchor === undefined) return size
  state.open.delete(anchor)
  state.sizes.set(anchor, size)
  return size
}

const offsetOf = ({ range }: Node): number => range?.[0] ?? 0

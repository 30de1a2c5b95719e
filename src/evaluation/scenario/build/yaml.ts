/** Renders scenarios as the YAML of scenario files, with comments where the caller has some. */
import { Document, isCollection, isMap, isScalar, isSeq, type Pair, visit } from 'yaml'
import { visible, wrap } from '../../../base/text/terminal-text.ts'
import type { PartFile, ScenarioFile } from '../format/scenario.ts'

const MODELINE = '# yaml-language-server: $schema=./node_modules/handover-sim/schema/scenario.v1.json\n'

/**
 * Renders a scenario as the YAML of a scenario file; several scenarios become documents of one file.
 *
 * @example
 * import { defineScenario, press, toYaml } from 'handover-sim/scenario'
 *
 * console.log(toYaml(defineScenario({ name: 'Takeover' }, [press('handover')])))
 */
export function toYaml(scenario: ScenarioFile | PartFile | readonly (ScenarioFile | PartFile)[]): string {
  const all = Array.isArray(scenario) ? scenario : [scenario]
  return MODELINE + all.map(value => textOf(documentOf(value))).join('---\n')
}

/** Comments of a scenario file, each a paragraph. */
export interface ScenarioComments {
  readonly head: readonly string[]
  /** Before the steps, by position. `opensPart`: an empty line stands before the step. */
  readonly steps: readonly { readonly comments: readonly string[]; readonly opensPart: boolean }[]
  /** After the last step. */
  readonly end: readonly string[]
}

/** Renders a scenario with comments. What is long stands on several lines. */
export function annotatedYaml(scenario: ScenarioFile, { head, steps, end }: ScenarioComments): string {
  const document = documentOf(scenario, isLong)
  const list = document.get('steps')
  if (isSeq(list)) {
    list.items.forEach((item, index) => {
      const { comments = [], opensPart = false } = steps[index] ?? {}
      if (!isMap(item)) return
      if (comments.length > 0) item.commentBefore = linesOf(comments).join('\n')
      item.spaceBefore = opensPart
    })
  }
  const text = textOf(document)
  const commentText = (comments: readonly string[], indent: string) =>
    linesOf(comments)
      .map(line => `${indent}#${line}\n`)
      .join('')
  return `${MODELINE}${commentText(head, '')}${text}${commentText(end, '  ')}`
}

const COLUMNS = 112
/** A line feed would end the comment. */
const linesOf = (comments: readonly string[]) =>
  comments.flatMap(comment => wrap(visible(comment), COLUMNS)).map(line => ` ${line}`)

const textOf = (document: Document) => document.toString({ lineWidth: 0, flowCollectionPadding: true })

const LONG = 110
const isLong = ({ value }: Pair): boolean => JSON.stringify(value).length > LONG

function documentOf(value: unknown, isTallToo: (pair: Pair) => boolean = () => false): Document {
  const document = new Document(value, { aliasDuplicateObjects: false })
  layOut(document, isTallToo)
  return document
}

/** Puts every step on a line of its own. */
function layOut(document: Document, isTallToo: (pair: Pair) => boolean): void {
  visit(document, {
    Pair(_key, pair) {
      if (isCollection(pair.value))
        pair.value.flow = !(isScalar(pair.key) && TALL.includes(String(pair.key.value))) && !isTallToo(pair)
    },
    Scalar(_key, scalar) {
      // Without quotes it would look like a placeholder.
      if (typeof scalar.value === 'string' && scalar.value.includes('{{')) scalar.type = 'QUOTE_DOUBLE'
    },
  })
}

const TALL = ['steps', 'finally', 'repeat', 'parallel']

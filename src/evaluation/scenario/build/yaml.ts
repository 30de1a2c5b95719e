/** Renders scenarios as the YAML of scenario files, with comments where the caller has some. */
import { Document, isCollection, isMap, isScalar, isSeq, visit } from 'yaml'
import { visible, wrap } from '../../../base/text/terminal-text.ts'
import type { PartFile, ScenarioFile } from '../format/scenario.ts'
import { escapeCharacter, UNSEEN } from '../value-text.ts'

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
  const scenarios = Array.isArray(scenario) ? scenario : [scenario]
  return MODELINE + scenarios.map(value => formatDocument(createDocument(value))).join('---\n')
}

/** Comments of a scenario file, each a paragraph. */
export interface ScenarioComments {
  readonly head: readonly string[]
  /** Before the steps, by position. `opensPart`: an empty line stands before the step. */
  readonly steps: readonly { readonly comments: readonly string[]; readonly opensPart: boolean }[]
  /** After the last step. */
  readonly end: readonly string[]
}

/** Longer steps stand on several lines. */
const MAX_STEP_CHARS = 110
const MAX_COMMENT_CHARS = 112

/** Renders a scenario with comments. What is long stands on several lines. */
export function annotatedYaml(scenario: ScenarioFile, { head, steps, end }: ScenarioComments): string {
  const document = createDocument(scenario, MAX_STEP_CHARS)
  const list = document.get('steps')
  for (const [index, item] of isSeq(list) ? list.items.entries() : []) {
    const { comments = [], opensPart = false } = steps[index] ?? {}
    if (!isMap(item)) continue
    if (comments.length > 0) item.commentBefore = commentLines(comments).join('\n')
    item.spaceBefore = opensPart
  }
  let text = MODELINE
  for (const line of commentLines(head)) text += `#${line}\n`
  text += formatDocument(document)
  for (const line of commentLines(end)) text += `  #${line}\n`
  return text
}

/** A line feed would end the comment. */
function commentLines(comments: readonly string[]): string[] {
  const lines: string[] = []
  for (const comment of comments) for (const line of wrap(visible(comment), MAX_COMMENT_CHARS)) lines.push(` ${line}`)
  return lines
}

/** Unseen characters stand in double quotes, and are written by their numbers: they would let a reader see another text. */
const formatDocument = (document: Document) =>
  document
    .toString({ lineWidth: 0, flowCollectionPadding: true })
    .replace(UNSEEN, sign => (/[\n\t]/.test(sign) ? sign : escapeCharacter(sign)))

/** Each of these stands on several lines. */
const BLOCKS = ['steps', 'finally', 'repeat', 'parallel']

/** Puts every step on a line of its own, unless it is longer than `maxChars`. */
function createDocument(value: unknown, maxChars = Number.POSITIVE_INFINITY): Document {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Pair(_, { key, value: inner }) {
      if (!isCollection(inner)) return
      const isBlock = isScalar(key) && BLOCKS.includes(String(key.value))
      inner.flow = !isBlock && JSON.stringify(inner).length <= maxChars
    },
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'string') return
      // Without quotes, `{{` would look like a placeholder.
      const isUnseen = scalar.value.replace(/[\n\t]/g, '').search(UNSEEN) >= 0
      if (isUnseen || scalar.value.includes('{{')) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document
}

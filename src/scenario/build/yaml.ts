/** Scenarios as YAML files. Reading such a file gives the same value again. */
import { Document, isCollection, isScalar, visit } from 'yaml'
import type { PartFile, ScenarioFile } from '../format/scenario.ts'

const MODELINE = '# yaml-language-server: $schema=./node_modules/handover-sim/schema/scenario.v1.json\n'

/** Several become documents of one file. */
export function toYaml(scenario: ScenarioFile | PartFile | readonly (ScenarioFile | PartFile)[]): string {
  const all = Array.isArray(scenario) ? scenario : [scenario]
  return MODELINE + all.map(textOf).join('---\n')
}

function textOf(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  layOut(document)
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** Lists of steps one below the other, everything inside a step on its line. */
function layOut(document: Document): void {
  visit(document, {
    Pair(_key, pair) {
      if (isCollection(pair.value)) pair.value.flow = !isTall(pair.key)
    },
    Scalar(_key, scalar) {
      // Unquoted, it would look like a placeholder that nobody fills in.
      if (typeof scalar.value === 'string' && scalar.value.includes('{{')) scalar.type = 'QUOTE_DOUBLE'
    },
  })
}

const TALL = ['steps', 'finally', 'repeat', 'parallel']
const isTall = (key: unknown) => isScalar(key) && TALL.includes(String(key.value))

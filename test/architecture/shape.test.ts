/** Checks the size of the files of src, and how many casts and non-null assertions they have. */
import { describe, expect, it } from 'vitest'
import { read } from './files.ts'
import { importersBySource, type Node, nodesOf, SOURCES } from './source.ts'

const lineCount = (file: string) => read(`src/${file}`).trimEnd().split('\n').length

/** Small files with one importer, and the reason for each. */
const SEAMS: Readonly<Record<string, string>> = {
  'evaluation/scenario/build/index.ts': 'the public names of an entry',
  'platform/signature/index.ts': 'the public names of an entry',
  'running/recorder/record.ts': 'loads when it is used first',
  'pages/reporters/badge.ts': 'a file for each report',
  'pages/reporters/tap.ts': 'a file for each report',
}

const isBrowserPair = (file: string) =>
  file.endsWith('.browser.ts') || SOURCES.includes(file.replace(/\.ts$/, '.browser.ts'))
const isCommand = (file: string) => file.startsWith('commands/')

describe('files', () => {
  it('a file under 60 lines (a component: 25) has more than one importer, or is a seam', () => {
    const importers = importersBySource()
    const small = SOURCES.filter(
      file => lineCount(file) < (file.endsWith('x') ? 25 : 60) && importers.get(file)?.length === 1,
    )
    const merged = small.filter(file => !isBrowserPair(file) && !isCommand(file) && !Object.hasOwn(SEAMS, file))
    expect(merged.map(file => `${file} belongs into ${importers.get(file)}`)).toEqual([])
  })

  it('every listed seam exists', () => {
    expect(Object.keys(SEAMS).filter(file => !SOURCES.includes(file))).toEqual([])
  })
})

const isConst = ({ typeAnnotation }: Node) => {
  const { typeName } = typeAnnotation as { typeName?: { name?: string } }
  return typeName?.name === 'const'
}
const count = (test: (node: Node) => boolean) =>
  SOURCES.reduce((sum, file) => sum + nodesOf(file).filter(test).length, 0)

describe('types', () => {
  it('src has few casts; `as const` does not count', () => {
    expect(count(node => node.type === 'TSAsExpression' && !isConst(node))).toBeLessThanOrEqual(120)
  })

  it('src has few non-null assertions', () => {
    expect(count(({ type }) => type === 'TSNonNullExpression')).toBeLessThanOrEqual(40)
  })
})

/** Checks that the imports of src follow the order of docs/explanation/architecture.md, and other rules for files. */
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, importsOf, read } from './files.ts'

const FILES = filesIn('src', '.ts', '.tsx')
const PAGE = read('docs/explanation/architecture.md')

const stepsOf = (order: string) => order.split(' -> ').map(step => step.split(', '))
/** `commands -> testing -> ...` for the wings, and `platform: simulator -> api, ...` for the folders of one. */
const ORDERS = [
  { folder: '', steps: stepsOf(/^commands -> .* -> base$/m.exec(PAGE)![0]) },
  ...[...PAGE.matchAll(/^(\w[\w/-]*): ((?:[\w.-]+(?: -> |, ))+[\w.-]+)$/gm)].map(([, folder, order]) => ({
    folder: `${folder}/`,
    steps: stepsOf(order!),
  })),
]

/** The folder of a file below another one; `.` for a file directly in it. */
const folderBelow = (folder: string, file: string) => {
  const rest = file.slice(folder.length).split('/')
  return rest.length === 1 ? '.' : rest[0]!
}

const importsBelow = (folder: string) =>
  FILES.filter(file => file.startsWith(folder)).flatMap(file =>
    importsOf(read(`src/${file}`))
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => ({ file, target: normalize(join(dirname(file), specifier)) }))
      .filter(({ target }) => target.startsWith(folder) && !target.startsWith('..') && !target.endsWith('.css')),
  )

describe('the order of folders', () => {
  it('the page orders the wings, and every wing with folders', () => {
    const wings = [...new Set(FILES.map(file => folderBelow('', file)))].filter(wing => wing !== '.')
    expect(ORDERS[0]!.steps.flat().sort()).toEqual(wings.sort())
    const nested = wings.filter(wing => FILES.some(file => file.startsWith(`${wing}/`) && file.split('/').length > 2))
    expect(ORDERS.map(({ folder }) => folder)).toEqual(expect.arrayContaining(nested.map(wing => `${wing}/`)))
  })

  it.each(ORDERS)('imports below src/$folder point to the right only', ({ folder, steps }) => {
    const found = importsBelow(folder)
    const present = new Set(FILES.filter(file => file.startsWith(folder)).map(file => folderBelow(folder, file)))
    if (folder === '') present.delete('.')
    expect(steps.flat().sort()).toEqual([...present].sort())
    const rank = (file: string) => steps.findIndex(step => step.includes(folderBelow(folder, file)))
    const wrong = found.filter(
      ({ file, target }) =>
        file !== 'index.ts' && folderBelow(folder, file) !== folderBelow(folder, target) && rank(target) <= rank(file),
    )
    expect(found.length).toBeGreaterThan(4)
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
  })

  it('every wing has a README', () => {
    const wings = ORDERS[0]!.steps.flat()
    expect(wings.filter(wing => read(`src/${wing}/README.md`).split('\n').length < 8)).toEqual([])
  })

  it('no file imports src/index.ts', () => {
    expect(importsBelow('').filter(({ target }) => target === 'index.ts')).toEqual([])
  })

  it('every import refers to a file of src or to a JSON fixture', () => {
    const data = FILES.flatMap(file =>
      importsOf(read(`src/${file}`))
        .filter(specifier => specifier.startsWith('.'))
        .map(specifier => normalize(join(dirname(file), specifier)))
        .filter(target => !FILES.includes(target)),
    )
    expect(data.filter(target => !/^\.\.\/fixtures\/.*\.json$|^pages\/web\/.*\.css$/.test(target))).toEqual([])
  })
})

describe('files', () => {
  const CLOCKS =
    /\b(Date\.now|setTimeout|setInterval|setImmediate|Math\.random|randomUUID|performance\.now|hrtime)\b|\bnew Date\(\)/

  it('only runtime reads a clock or draws random numbers', () => {
    const outside = FILES.filter(file => !file.startsWith('base/runtime/'))
    const named = outside.flatMap(file =>
      read(`src/${file}`)
        .split('\n')
        .flatMap((line, index) => (CLOCKS.test(line) ? [`src/${file}:${index + 1}: ${line.trim()}`] : [])),
    )
    expect(named).toEqual([])
    expect(FILES.filter(file => file.startsWith('base/runtime/') && CLOCKS.test(read(`src/${file}`)))).not.toEqual([])
  })

  it('none has a generic name', () => {
    expect(FILES.filter(file => /^(utils?|helpers?|common|types|misc|shared)\.ts$/.test(basename(file)))).toEqual([])
  })
})

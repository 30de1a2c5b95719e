/** Checks that the imports of src follow the layers of docs/architecture.md, and other rules for files. */
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, importsOf, read } from './files.ts'

const FILES = filesIn('src', '.ts', '.tsx')
const PAGE = read('docs/architecture.md')

const folderOf = (file: string) => file.split('/')[0]!.replace(/\.ts$/, '')

/** The layers of the page, the lowest first. */
const layers = /^cli, .* -> text$/m
  .exec(PAGE)![0]
  .split(' -> ')
  .map(layer => layer.split(', '))
  .reverse()
const layerOf = (folder: string) => layers.findIndex(layer => layer.includes(folder))

interface Import {
  readonly file: string
  readonly folder: string
  readonly to: string
}

/** Imports of another folder of src. */
const folderImports: Import[] = FILES.flatMap(file =>
  importsOf(read(`src/${file}`))
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => normalize(join(dirname(file), specifier)))
    .filter(target => !target.startsWith('..'))
    .map(target => ({ file, folder: folderOf(file), to: folderOf(target) }))
    .filter(({ folder, to }) => folder !== to),
)

describe('layers', () => {
  it('the page names every folder in its table and in its layers', () => {
    const folders = [...new Set(FILES.map(folderOf))].filter(folder => folder !== 'index').sort()
    const inTable = [...PAGE.matchAll(/^\| `([\w-]+)\/`/gm)].map(([, folder]) => folder!)
    expect([...inTable].sort()).toEqual(folders)
    expect(layers.flat().sort()).toEqual(folders)
  })

  it('imports point downwards', () => {
    expect(folderImports.length).toBeGreaterThan(200)
    const upwards = folderImports.filter(({ folder, to }) => folder !== 'index' && layerOf(folder) <= layerOf(to))
    expect(upwards).toEqual([])
  })

  it('contract and runtime import only text', () => {
    const low = folderImports.filter(({ folder }) => folder === 'contract' || folder === 'runtime')
    expect(low.filter(({ to }) => to !== 'text')).toEqual([])
  })

  it('no file imports src/index.ts', () => {
    expect(folderImports.filter(({ to }) => to === 'index')).toEqual([])
  })

  it('every import refers to a file of src or to a JSON fixture', () => {
    const data = FILES.flatMap(file =>
      importsOf(read(`src/${file}`))
        .filter(specifier => specifier.startsWith('.'))
        .map(specifier => normalize(join(dirname(file), specifier)))
        .filter(target => !FILES.includes(target)),
    )
    expect(data.filter(target => !/^\.\.\/fixtures\/.*\.json$|^web\/.*\.css$/.test(target))).toEqual([])
  })
})

/** `scenario: build, load -> compile -> format -> .`: the layers of subfolders that the page defines for a folder. */
const ordersInside = [...PAGE.matchAll(/^(\w[\w-]*): (.* -> .*)$/gm)].map(([, folder, order]) => ({
  folder: folder!,
  steps: order!.split(' -> ').map(step => step.split(', ')),
}))

describe('subfolders', () => {
  const subfolderOf = (file: string) => (file.split('/').length === 2 ? '.' : file.split('/')[1]!)

  it.each(ordersInside)('imports inside $folder point downwards only', ({ folder, steps: inside }) => {
    const files = FILES.filter(file => file.startsWith(`${folder}/`))
    expect(inside.flat().sort()).toEqual([...new Set(files.map(subfolderOf))].sort())
    const rank = (subfolder: string) => inside.findIndex(step => step.includes(subfolder))
    const upwards = files.flatMap(file =>
      importsOf(read(`src/${file}`))
        .filter(specifier => specifier.startsWith('.'))
        .map(specifier => normalize(join(dirname(file), specifier)))
        .filter(
          target =>
            target.startsWith(`${folder}/`) && !target.endsWith('.css') && subfolderOf(target) !== subfolderOf(file),
        )
        .filter(target => rank(subfolderOf(target)) <= rank(subfolderOf(file)))
        .map(target => `${file} -> ${target}`),
    )
    expect(upwards).toEqual([])
  })

  it('the page orders the subfolders of scenario, of the evaluator and of web', () => {
    expect(ordersInside.map(({ folder }) => folder)).toEqual(['scenario', 'evaluator', 'web'])
  })

  it('the files of the evaluator that decide import no texts of failures or findings', () => {
    const deciding = FILES.filter(file => file.startsWith('evaluator/') && subfolderOf(file) === '.')
    const rendering = deciding.flatMap(file =>
      importsOf(read(`src/${file}`))
        .filter(specifier => /\/wording\/|\/texts\.ts$/.test(specifier))
        .map(specifier => `${file} -> ${specifier}`),
    )
    expect(deciding.length).toBeGreaterThan(20)
    expect(rendering).toEqual([])
  })
})

describe('files', () => {
  const CLOCKS =
    /\b(Date\.now|setTimeout|setInterval|setImmediate|Math\.random|randomUUID|performance\.now|hrtime)\b|\bnew Date\(\)/

  it('only runtime reads a clock or draws random numbers', () => {
    const outside = FILES.filter(file => folderOf(file) !== 'runtime')
    const named = outside.flatMap(file =>
      read(`src/${file}`)
        .split('\n')
        .flatMap((line, index) => (CLOCKS.test(line) ? [`src/${file}:${index + 1}: ${line.trim()}`] : [])),
    )
    expect(named).toEqual([])
    expect(FILES.filter(file => folderOf(file) === 'runtime' && CLOCKS.test(read(`src/${file}`)))).not.toEqual([])
  })

  /** Files that are one table of data. */
  const TABLES = ['contract/assumptions.ts']

  it('none has more than 300 lines', () => {
    const long = FILES.filter(file => !TABLES.includes(file) && read(`src/${file}`).split('\n').length > 301)
    expect(long).toEqual([])
  })

  it('none has a generic name', () => {
    expect(FILES.filter(file => /^(utils?|helpers?|common|types|misc|shared)\.ts$/.test(basename(file)))).toEqual([])
  })
})

/** The rules of docs/architecture.md, read from the source. */
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, importsOf, read } from './files.ts'

const FILES = filesIn('src', '.ts')
const PAGE = read('docs/architecture.md')

/** `simulator.ts` is the front of `simulator/`. */
const folderOf = (file: string) => file.split('/')[0]!.replace(/\.ts$/, '')

/** The steps of the page, the lowest first. */
const steps = /^cli, .* -> text$/m
  .exec(PAGE)![0]
  .split(' -> ')
  .map(step => step.split(', '))
  .reverse()
const stepOf = (room: string) => steps.findIndex(step => step.includes(room))

interface Import {
  readonly file: string
  readonly room: string
  readonly to: string
}

/** Imports of another room; data files outside of src are no rooms. */
const folderImports: Import[] = FILES.flatMap(file =>
  importsOf(read(`src/${file}`))
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => normalize(join(dirname(file), specifier)))
    .filter(target => !target.startsWith('..'))
    .map(target => ({ file, room: folderOf(file), to: folderOf(target) }))
    .filter(({ room, to }) => room !== to),
)

describe('layers', () => {
  it('the page names every room, in its table and in its steps', () => {
    const rooms = [...new Set(FILES.map(folderOf))].filter(room => room !== 'index').sort()
    const inTable = [...PAGE.matchAll(/^\| `([\w-]+)\/`/gm)].map(([, room]) => room!)
    expect([...inTable].sort()).toEqual(rooms)
    expect(steps.flat().sort()).toEqual(rooms)
  })

  it('imports point downwards only', () => {
    expect(folderImports.length).toBeGreaterThan(200)
    const upwards = folderImports.filter(({ room, to }) => room !== 'index' && stepOf(room) <= stepOf(to))
    expect(upwards).toEqual([])
  })

  it('contract and runtime import nothing of ours but text', () => {
    const low = folderImports.filter(({ room }) => room === 'contract' || room === 'runtime')
    expect(low.filter(({ to }) => to !== 'text')).toEqual([])
  })

  it('nobody imports the list of public names', () => {
    expect(folderImports.filter(({ to }) => to === 'index')).toEqual([])
  })

  it('every import leads to a file of src, or is data', () => {
    const data = FILES.flatMap(file =>
      importsOf(read(`src/${file}`))
        .filter(specifier => specifier.startsWith('.'))
        .map(specifier => normalize(join(dirname(file), specifier)))
        .filter(target => !FILES.includes(target)),
    )
    expect(data.filter(target => !/^\.\.\/fixtures\/.*\.json$/.test(target))).toEqual([])
  })
})

/** `scenario: build, load -> compile -> format -> .`: the steps of each folder that the page orders inside. */
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
        .filter(target => target.startsWith(`${folder}/`) && subfolderOf(target) !== subfolderOf(file))
        .filter(target => rank(subfolderOf(target)) <= rank(subfolderOf(file)))
        .map(target => `${file} -> ${target}`),
    )
    expect(upwards).toEqual([])
  })

  it('the page orders the inside of folders', () => {
    expect(ordersInside.map(({ folder }) => folder)).toContain('scenario')
  })
})

describe('files', () => {
  const CLOCKS =
    /\b(Date\.now|setTimeout|setInterval|setImmediate|Math\.random|randomUUID|performance\.now|hrtime)\b|\bnew Date\(\)/

  it('only runtime reads a clock or rolls dice', () => {
    const outside = FILES.filter(file => folderOf(file) !== 'runtime')
    const named = outside.flatMap(file =>
      read(`src/${file}`)
        .split('\n')
        .flatMap((line, index) => (CLOCKS.test(line) ? [`src/${file}:${index + 1}: ${line.trim()}`] : [])),
    )
    expect(named).toEqual([])
    expect(FILES.filter(file => folderOf(file) === 'runtime' && CLOCKS.test(read(`src/${file}`)))).not.toEqual([])
  })

  /** One row of data per line of the page; there is nothing in it to divide. */
  const TABLES = ['contract/assumptions.ts']

  it('none is long', () => {
    const long = FILES.filter(file => !TABLES.includes(file) && read(`src/${file}`).split('\n').length > 301)
    expect(long).toEqual([])
  })

  it('none has a name that says nothing', () => {
    expect(FILES.filter(file => /^(utils?|helpers?|common|types|misc|shared)\.ts$/.test(basename(file)))).toEqual([])
  })
})

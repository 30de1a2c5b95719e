/**
 * Checks the imports: the order of the folders of src in docs/explanation/architecture.md, circles, clocks, mutable
 * module state, and that no script depends on a test.
 */
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, importsOf, read } from './files.ts'

const SOURCES = new Map(filesIn('src', '.ts', '.tsx').map(file => [file, read(`src/${file}`)]))
const FILES = [...SOURCES.keys()]
const PAGE = read('docs/explanation/architecture.md')

interface Import {
  readonly file: string
  readonly target: string
}
/** The imports of files by files, as paths below `folder`. */
const importsIn = (file: string, source: string): Import[] =>
  importsOf(source)
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => ({ file, target: normalize(join(dirname(file), specifier)) }))
const IMPORTS = [...SOURCES].flatMap(([file, source]) => importsIn(file, source))
const importsByFile = Map.groupBy(IMPORTS, ({ file }) => file)
const shown = (imports: readonly Import[]) => imports.map(({ file, target }) => `${file} -> ${target}`)

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

describe('the order of folders', () => {
  it.each(ORDERS)('imports below src/$folder point to the right only', ({ folder, steps }) => {
    const present = new Set(FILES.filter(file => file.startsWith(folder)).map(file => folderBelow(folder, file)))
    if (folder === '') present.delete('.')
    expect(steps.flat().sort()).toEqual([...present].sort())
    const rank = (file: string) => steps.findIndex(step => step.includes(folderBelow(folder, file)))
    const inside = IMPORTS.filter(({ file, target }) => file.startsWith(folder) && target.startsWith(folder)).filter(
      ({ file, target }) => SOURCES.has(target) && folderBelow(folder, file) !== folderBelow(folder, target),
    )
    expect(shown(inside.filter(({ file, target }) => file !== 'index.ts' && rank(target) <= rank(file)))).toEqual([])
  })

  it('covers every wing that has folders', () => {
    const nested = new Set(FILES.filter(file => file.split('/').length > 2).map(file => `${file.split('/')[0]}/`))
    expect(ORDERS.map(({ folder }) => folder)).toEqual(expect.arrayContaining([...nested]))
  })

  it('no file imports src/index.ts, and others than sources are styles and JSON fixtures', () => {
    const isAllowed = ({ target }: Import) =>
      target === 'index.ts'
        ? false
        : SOURCES.has(target) || /^\.\.\/fixtures\/.*\.json$|^pages\/web\/.*\.css$/.test(target)
    expect(shown(IMPORTS.filter(one => !isAllowed(one)))).toEqual([])
  })
})

/** Returns a path from the file to itself through files of its folder; types count. */
function circleOf(file: string): string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [file]
  for (const one of queue) {
    for (const { target } of importsByFile.get(one) ?? []) {
      if (target === file) {
        const path = [file]
        for (let at = one; at !== file; at = cameFrom.get(at)!) path.unshift(at)
        return [file, ...path]
      }
      if (dirname(target) !== dirname(file) || cameFrom.has(target)) continue
      cameFrom.set(target, one)
      queue.push(target)
    }
  }
  return null
}

it('the files of a folder do not import each other in a circle', () => {
  expect(FILES.flatMap(file => circleOf(file)?.join(' -> ') ?? [])).toEqual([])
})

it('no script imports a test', () => {
  const scripts = filesIn('scripts', '.ts', '.mjs', '.cts').flatMap(file =>
    importsIn(`scripts/${file}`, read(`scripts/${file}`)),
  )
  expect(scripts.length).toBeGreaterThan(30)
  expect(shown(scripts.filter(({ target }) => target.startsWith('test/')))).toEqual([])
})

it('only base/runtime reads a clock or draws random numbers', () => {
  const clocks =
    /\b(Date\.now|setTimeout|setInterval|setImmediate|Math\.random|randomUUID|performance\.now|hrtime)\b|\bnew Date\(\)/
  const [inside, outside] = [true, false].map(isRuntime =>
    FILES.filter(file => file.startsWith('base/runtime/') === isRuntime && clocks.test(SOURCES.get(file)!)),
  )
  expect(outside).toEqual([])
  expect(inside).not.toEqual([])
})

/** State that belongs to the process, by file and name, and why. */
const OF_THE_PROCESS: Readonly<Record<string, string>> = {
  'base/runtime/node.ts: firstLoads': 'Node has one cache of modules, for the whole process',
  'base/runtime/time-limit.ts: sandbox': 'a context of V8 takes a millisecond to create, a test of a pattern 60 us',
  'testing/interceptors/interceptors.ts: undo': 'the patched modules of Node are those of the whole process',
  'running/agent-driver/process-group.ts: groups': 'programs that end with this process, which has one end',
}

it('no module has variables that change, which two simulators would share', () => {
  const isWritten = (source: string, name: string) =>
    new RegExp(`(?<![.\\w])${name}\\.(set|add|delete|clear|push|pop|shift|unshift|splice)\\(`).test(source)
  const found = [...SOURCES].flatMap(([file, source]) => {
    const variables = [...source.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name]) => name!)
    const collections = [...source.matchAll(/^(?:export )?const (\w+)\b.* = (?:new (?:Weak)?(?:Map|Set)\b|\[)/gm)]
    const written = collections.map(([, name]) => name!).filter(name => isWritten(source, name))
    return [...variables, ...written].map(name => `${file}: ${name}`)
  })
  expect(found.sort()).toEqual(Object.keys(OF_THE_PROCESS).sort())
})

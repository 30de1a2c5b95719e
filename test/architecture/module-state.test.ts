/** Checks that no module has state that changes: no `let`, and no map, set or other collection that is written to. */
import { parseAst } from 'rolldown/parseAst'
import { expect, it } from 'vitest'
import { read } from './files.ts'
import { nodesOf, SOURCES } from './source.ts'

/** State that belongs to the process, by file and name, and why. */
const OF_THE_PROCESS: Readonly<Record<string, string>> = {
  'base/runtime/node.ts: firstLoads': 'Node has one cache of modules, for the whole process',
  'base/runtime/time-limit.ts: sandbox': 'a context of V8 takes a millisecond to create, a test of a pattern 60 us',
  'testing/interceptors/interceptors.ts: undo': 'the patched modules of Node are those of the whole process',
  'running/agent-driver/process-group.ts: groups': 'programs that end with this process, which has one end',
}

const COLLECTION = /^(Weak)?(Map|Set)$/
const WRITING = ['set', 'add', 'delete', 'clear', 'push', 'pop', 'shift', 'unshift', 'splice']

interface Declaration {
  readonly type: string
  readonly kind?: string
  readonly declaration?: Declaration | null
  readonly declarations?: readonly {
    readonly id: { readonly name?: string }
    readonly init: { readonly type: string; readonly callee?: { readonly name?: string } } | null
  }[]
}

/** Returns the names of variables at the top of a file that change. */
function stateOf(file: string): string[] {
  const source = read(`src/${file}`)
  const { body } = parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' })
  const variables = new Map<string, 'let' | 'collection'>()
  for (const statement of body as unknown as readonly Declaration[]) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    for (const { id, init } of declared?.declarations ?? []) {
      if (id.name === undefined) continue
      const isCollection =
        init?.type === 'ArrayExpression' || (init?.type === 'NewExpression' && COLLECTION.test(init.callee?.name ?? ''))
      if (declared?.kind !== 'const') variables.set(id.name, 'let')
      else if (isCollection) variables.set(id.name, 'collection')
    }
  }
  if (variables.size === 0) return []
  const written = new Set<string>()
  for (const node of nodesOf(file)) {
    if (node.type !== 'CallExpression') continue
    const { object, property } = node.callee as { object?: { name?: string }; property?: { name?: string } }
    if (object?.name !== undefined && WRITING.includes(property?.name ?? '')) written.add(object.name)
  }
  return [...variables].flatMap(([name, kind]) => (kind === 'let' || written.has(name) ? [name] : []))
}

it('no module has variables that change', () => {
  const found = SOURCES.flatMap(file => stateOf(file).map(name => `${file}: ${name}`))
  expect(found.filter(one => !Object.hasOwn(OF_THE_PROCESS, one))).toEqual([])
  expect(Object.keys(OF_THE_PROCESS).filter(one => !found.includes(one))).toEqual([])
})

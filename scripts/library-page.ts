/** Writes docs/reference/api.md: every name that the package exports, with its type and the comment in the source. */
import { readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

export const ENTRIES: Readonly<Record<string, string>> = {
  'handover-sim': 'src/index.ts',
  'handover-sim/vitest': 'src/testing/vitest/index.ts',
  'handover-sim/msw': 'src/testing/msw.ts',
  'handover-sim/interceptors': 'src/testing/interceptors/interceptors.ts',
  'handover-sim/scenario': 'src/testing/scenario.ts',
  'handover-sim/certify': 'src/testing/certify.ts',
  'handover-sim/contract': 'src/platform/contract/index.ts',
  'handover-sim/signature': 'src/platform/signature/index.ts',
}

/** The parts of the syntax tree that this file reads. */
interface Syntax {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly source?: { readonly value: string } | null
  readonly specifiers?: readonly { readonly local: Name; readonly exported?: Name }[]
  readonly declaration?: Syntax | null
  readonly id?: Name | null
  readonly declarations?: readonly (Syntax & { readonly id: Name; readonly init: Syntax | null })[]
  readonly body?: Syntax | readonly Syntax[] | null
  readonly key?: Name
  readonly accessibility?: string
  readonly value?: Syntax | null
  readonly async?: boolean
}
interface Name {
  readonly name: string
}

export interface Exported {
  readonly name: string
  readonly about: string
  /** As TypeScript. */
  readonly type: string
}

const ROOT = new URL('../', import.meta.url)
const texts = new Map<string, { readonly text: string; readonly body: readonly Syntax[] }>()
function sourceOf(file: string) {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = readFileSync(new URL(file, ROOT), 'utf8')
  const source = { text, body: parseAst(text, { lang: 'ts' }).body as unknown as readonly Syntax[] }
  texts.set(file, source)
  return source
}

/** What a file exports, also again from others, in the order of the file. */
export function exportsOf(file: string): Exported[] {
  const { text, body } = sourceOf(file)
  const found: Exported[] = []
  for (const node of body) {
    if (node.type === 'ExportAllDeclaration') found.push(...exportsOf(posix.join(dirname(file), node.source!.value)))
    if (node.type !== 'ExportNamedDeclaration') continue
    if (node.declaration) found.push(...declared(text, node, node.declaration))
    for (const { local, exported } of node.specifiers ?? []) {
      const from = node.source?.value ?? importedFrom(body, local.name)
      const all = from === undefined ? [] : exportsOf(posix.join(dirname(file), from))
      for (const one of all) if (one.name === local.name) found.push({ ...one, name: exported?.name ?? one.name })
    }
  }
  return found
}

const importedFrom = (body: readonly Syntax[], name: string) =>
  body.find(one => one.type === 'ImportDeclaration' && one.specifiers?.some(({ local }) => local.name === name))?.source
    ?.value

function declared(text: string, node: Syntax, declaration: Syntax): Exported[] {
  const doc = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, node.start))?.[1] ?? ''
  const about = doc.replace(/\n\s*\* ?/g, '\n').trim()
  const of = (name: string, type: string): Exported => ({ name, about, type: type.trim() })
  if (declaration.type !== 'VariableDeclaration') return [of(declaration.id!.name, typeOf(text, declaration))]
  return declaration.declarations!.map(one => of(one.id.name, `const ${variableType(text, one)}`))
}

/** A function without its body; a class without bodies and private members; an interface or a type as it is. */
function typeOf(text: string, { type, start, end, body }: Syntax): string {
  if (type.endsWith('FunctionDeclaration') && body && !Array.isArray(body))
    return text.slice(start, (body as Syntax).start)
  if (type !== 'ClassDeclaration') return text.slice(start, end)
  const { start: open, body: members } = body as Syntax
  const lines = (members as readonly Syntax[]).flatMap(member => {
    if (
      member.accessibility === 'private' ||
      member.key?.name === undefined ||
      text.slice(member.start, member.start + 1) === '#'
    )
      return []
    const inner = member.value?.body as Syntax | undefined
    return [`  ${text.slice(member.start, inner?.start ?? member.end).trim()}`]
  })
  return `${text.slice(start, open)}{\n${lines.join('\n')}\n}`
}

/** The type that is written, or the parameters of a function; of another value only its name. */
function variableType(
  text: string,
  { id, init, start }: Syntax & { readonly id: Name; readonly init: Syntax | null },
): string {
  const declaredType = /^[\w$]+\s*:[\s\S]*$/.exec(text.slice(start, init?.start ?? start).replace(/=\s*$/, ''))?.[0]
  if (declaredType !== undefined) return declaredType
  if (init?.type !== 'ArrowFunctionExpression') return id.name
  return `${id.name} = ${text.slice(init.start, (init.body as Syntax).start)}...`
}

/** The comment as Markdown: sentences, then what is thrown, then the example. */
function aboutText(about: string): string {
  const [sentences = '', ...tags] = about.split(/\n(?=@)/)
  const parts = [sentences.replaceAll('\n', ' ').trim()]
  for (const tag of tags) {
    const [, name = '', text = ''] = /^@(\w+)\s*([\s\S]*)$/.exec(tag) ?? []
    if (name === 'example') parts.push(`\`\`\`ts\n${text.trim()}\n\`\`\``)
    else if (name === 'throws') parts.push(`Throws ${text.replaceAll('\n', ' ').trim()}`)
    else parts.push(`\`${name}\`: ${text.replaceAll('\n', ' ').trim()}`)
  }
  return parts.filter(part => part !== '').join('\n\n')
}

const isType = (name: string, all: readonly Exported[]): boolean =>
  all.every(one => one.name !== name || /^(interface|type) /.test(one.type))

export function libraryPage(): string {
  const sections = Object.entries(ENTRIES).map(([entry, file]) => {
    const all = exportsOf(file)
    // What is called first, then types.
    const names = [...new Set(all.map(({ name }) => name))].sort(
      (a, b) => Number(isType(a, all)) - Number(isType(b, all)) || a.localeCompare(b, 'en'),
    )
    const texts = names.map(name => {
      const same = all.filter(one => one.name === name)
      const about = same.find(one => one.about !== '')?.about ?? ''
      const types = [...new Set(same.map(({ type }) => type))].join('\n')
      return `### \`${name}\`\n\n${about === '' ? '' : `${aboutText(about)}\n\n`}\`\`\`ts\n${types}\n\`\`\`\n`
    })
    return `## ${entry}\n\n${texts.join('\n')}`
  })
  return `# Library API

Every name that the package exports, with its type and what the source says of it. The [library](library.md) page shows how they
are used, and [unit tests](../how-to/unit-tests.md) how a test uses them.

${sections.join('\n')}`
}

/** Checks that the links, commands, routes, scripts and files that the pages name exist. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/commands/main.ts'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import { blocks, inlineCode, PAGES, pathOf, read } from './pages.ts'

const headingId = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
const linksIn = (text: string) => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!)

const CONTENTS = PAGES.map(page => {
  const text = read(page)
  const inline = inlineCode(text)
  const inBlocks = [...blocks(text, ''), ...blocks(text, 'sh')].join('\n')
  return {
    page,
    inline,
    inBlocks,
    /** All that a reader may type. */
    typed: [...inline, inBlocks].join('\n'),
    links: linksIn(text).filter(to => !/^https?:/.test(to)),
    headings: [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => headingId(heading!)),
  }
})
type Content = (typeof CONTENTS)[number]

/** Lists what the pages name and `namesIn` finds wrong. */
const wrongIn = (namesIn: (content: Content) => string[]) =>
  CONTENTS.flatMap(content => namesIn(content).map(name => `${content.page}: ${name}`))

describe('the pages name only', () => {
  it('files and headings that exist, in their links', () => {
    const headings = new Map(CONTENTS.map(content => [content.page, content.headings]))
    const isBroken = (page: string, link: string) => {
      const [file = '', heading] = link.split('#')
      const target = file === '' ? page : join(dirname(page), file)
      return !existsSync(pathOf(target)) || (heading !== undefined && !headings.get(target)?.includes(heading))
    }
    expect(wrongIn(({ page, links }) => links.filter(link => isBroken(page, link)))).toEqual([])
  })

  it('scripts and commands that exist, and blocks type commands with npx', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const unknown = ({ typed, inBlocks }: Content) => [
      ...[...typed.matchAll(/\bnpm (?:run )?(?:-s )?([a-z:]+)/g)]
        .map(([, name]) => name!)
        .filter(name => !(name in scripts) && !['ci', 'install', 'pack'].includes(name)),
      // No message in JSON that begins with the name of the program.
      ...[...typed.matchAll(/(?<!")handover-sim(?:\.js)? ([a-z]+)/g)]
        .map(([, name]) => name!)
        .filter(name => !Object.hasOwn(COMMANDS, name)),
      ...[...inBlocks.matchAll(/^(?:\$ )?handover-sim .*$/gm)].map(([line]) => line),
    ]
    expect(wrongIn(unknown)).toEqual([])
  })

  it('routes of the control API that exist', () => {
    const paths = Object.keys(controlOpenApi().paths as object).map(path => path.replace(/\{\w+\}/g, '[^/]+'))
    const route = new RegExp(`^(${paths.join('|')}|/_sim/ui)$`)
    const unknown = ({ typed }: Content) =>
      [...typed.matchAll(/\/_sim[\w/:$.-]*/g)].map(([path]) => path).filter(path => !route.test(path))
    expect(wrongIn(unknown)).toEqual([])
  })
})

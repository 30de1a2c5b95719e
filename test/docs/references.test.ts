/** Checks the links, scripts, knobs and numbers on every page. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { KEPT_BODY_CHARS } from '../../src/base/runtime/transport.ts'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { ENDPOINT_EXAMPLES, EVENT_EXAMPLES } from '../../src/platform/contract/examples.ts'
import { defaultKnobs, KNOB_NAMES } from '../../src/platform/contract/knobs.ts'
import { DEFAULTS } from '../../src/platform/simulator/options.ts'
import { signingHeaders } from '../../src/platform/webhooks/request.ts'
import { SETTINGS } from '../../src/server/config/settings.ts'
import { blocks, inlineCode, PAGES, pathOf, read, run } from './pages.ts'

const headingId = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

const headingsOf = (page: string) => [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => headingId(heading!))

/** This page has names of the source. */
const API = 'docs/reference/api.md'

describe.each(PAGES)('%s', page => {
  it('links to files and headings that exist', () => {
    const links = [...read(page).matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!).filter(to => !/^https?:/.test(to))
    const broken = links.filter(link => {
      const [file = '', heading] = link.split('#')
      const target = file === '' ? page : join(dirname(page), file)
      return !existsSync(pathOf(target)) || (heading !== undefined && !headingsOf(target).includes(heading))
    })
    expect(broken).toEqual([])
  })

  it.skipIf(page === API)('names only knobs and assumptions that exist', () => {
    const groups = new Set(KNOB_NAMES.map(name => name.split('.')[0]!))
    const known: string[] = [
      ...KNOB_NAMES,
      ...ASSUMPTIONS.map(({ name }) => name),
      ...Object.keys(SETTINGS),
      'chat.messages',
    ]
    const files = /\.(js|ts|py|json|ya?ml|md|log)$/
    const named = inlineCode(read(page))
      .map(text => /^([a-z]+)\.[a-zA-Z]+$/.exec(text))
      .filter(match => match !== null && groups.has(match[1]!) && !files.test(match[0]))
      .map(match => match![0])
    expect(named.filter(name => !known.includes(name))).toEqual([])
  })

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const text = [...inlineCode(read(page)), ...blocks(read(page), ''), ...blocks(read(page), 'sh')].join('\n')
    const named = [...text.matchAll(/\bnpm (?:run )?(?:-s )?([a-z:]+)/g)].map(([, name]) => name!)
    expect(named.filter(name => !(name in scripts) && !['ci', 'install', 'pack'].includes(name))).toEqual([])
  })
})

it.each(['tutorials', 'how-to', 'reference', 'explanation'])('the index of docs/%s has all its pages', folder => {
  const pages = PAGES.filter(page => page.startsWith(`docs/${folder}/`) && !/README\.md$|\/checks\//.test(page))
  expect(pages.length).toBeGreaterThan(3)
  const index = `docs/${folder}/README.md`
  expect(
    linksOf(index)
      .filter(page => page.startsWith(`docs/${folder}/`) && !page.includes('/checks/'))
      .sort(),
  ).toEqual(pages.sort())
  expect(linksOf('docs/README.md')).toContain(index)
})

const linksOf = (page: string) =>
  [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, to]) => join(dirname(page), to!))

const FOR_MAINTAINERS = [
  'docs/explanation/architecture.md',
  'docs/explanation/contributing.md',
  'docs/explanation/figures.md',
]

it('README links the main pages, and those for maintainers in a line of their own', () => {
  const readme = read('README.md')
  const inReadme = linksOf('README.md')
  expect(inReadme).toContain('docs/README.md')
  expect(inReadme.length).toBeLessThan(36)
  const [line = ''] = /^For maintainers: .*$/m.exec(readme) ?? []
  for (const page of FOR_MAINTAINERS) expect(line).toContain(`](${page})`)
  // The driver is explained before it is used.
  expect(readme.indexOf('](docs/reference/driver.md)')).toBeLessThan(readme.indexOf('--agent-driver'))
  expect(blocks(readme, '').map(text => text.trim())).toEqual(
    expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm test']),
  )
})

it('docs/reference/webhooks.md has the signature headers and the size limit', () => {
  const page = read('docs/reference/webhooks.md')
  const code = inlineCode(page)
  const headers = signingHeaders('examplekey', '{"foo":1,"bar":2}', '', defaultKnobs())
  for (const text of Object.entries(headers).flat()) expect(code).toContain(text)
  expect(page).toContain(`${KEPT_BODY_CHARS / 1024} KB`)
})

it('docs/reference/webhooks.md has the JSON of every event, and docs/reference/endpoints.md that of every call', () => {
  const jsonIn = (page: string) => blocks(read(page), 'json').map(text => JSON.parse(text))
  expect(jsonIn('docs/reference/webhooks.md')).toEqual(Object.values(EVENT_EXAMPLES))
  const calls = Object.values(ENDPOINT_EXAMPLES).flatMap(({ request, response }) => [request, response])
  expect(jsonIn('docs/reference/endpoints.md')).toEqual(calls.filter(body => body !== null))
})

it('docs/reference/control-api.md has the limit of the journal', () => {
  expect(read('docs/reference/control-api.md')).toContain(`${DEFAULTS.journalLimit.toLocaleString('en')} entries`)
})

it('the generated pages and schemas are up to date', async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['scripts/generate.ts', '--check'])
  expect(stdout + stderr).toBe('')
  expect(code).toBe(0)
})

/** Checks the built site: 200 searches find their page among the first three, and ten pages have no finding of axe. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import MiniSearch, { type SearchOptions } from 'minisearch'
import { COMMANDS, importCommand } from '../src/commands/main.ts'
import { KNOB_NAMES } from '../src/platform/contract/knobs.ts'
import { CHECKS } from '../src/running/certifier/checks/index.ts'
import config from './.vitepress/config.ts'

const DIST = new URL('.vitepress/dist/', import.meta.url)
const problems: string[] = []

const chunks = new URL('assets/chunks/', DIST)
const [file = ''] = readdirSync(chunks).filter(name => name.startsWith('@localSearchIndexroot'))
const { default: index } = (await import(new URL(file, chunks).href)) as { default: string }
const { options, searchOptions } = (
  config.themeConfig!.search as { options: { miniSearch: { options: object; searchOptions: SearchOptions } } }
).options.miniSearch
const search = MiniSearch.loadJSON<{ id: string }>(index, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  ...options,
  searchOptions,
})

/** What is searched, and how the address of the page begins that has to be found. */
const queries: [query: string, page: string][] = [
  ...KNOB_NAMES.map((name): [string, string] => [name, '/reference/assumptions']),
  ...CHECKS.map(({ id }): [string, string] => [id, `/reference/checks/${id}`]),
  ...Object.keys(COMMANDS).map((name): [string, string] => [`handover-sim ${name}`, '/reference/cli']),
  ['ECONNREFUSED', '/how-to/troubleshooting'],
  ['no webhook URL is set', '/how-to/troubleshooting'],
  ['port is in use', '/how-to/troubleshooting'],
  ['control token', '/reference/control-api'],
  ['exit codes', '/reference/cli'],
  ['INV-TEXT-TO-AGENT', '/reference/explore'],
  ['raw body signature', '/reference/checks/SIG-07'],
  ['docker', '/how-to/docker-and-compose'],
  ['pytest', '/how-to/other-languages'],
  ['virtual clock', '/reference/control-api#time'],
  ['createSimulator', '/reference/'],
  ['expectCall', '/reference/api'],
  ['INV-NOTHING-ELSE', '/reference/explore'],
  ['evicted', '/reference/config'],
]
const flags = new Set<string>()
for (const name of Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])
  for (const flag of Object.keys((await importCommand(name)).flags)) flags.add(flag.split(' ')[0]!)
for (const flag of flags) queries.push([flag, '/reference/cli'])

let found = 0
for (const [query, page] of queries) {
  const hits = search
    .search(query)
    .slice(0, 3)
    .map(({ id }) => String(id))
  if (hits.some(id => id.startsWith(page))) found++
  else problems.push(`search ${JSON.stringify(query)} should find ${page}, found ${hits.join(', ') || 'nothing'}`)
}
process.stdout.write(`${found} of ${queries.length} searches find their page among the first three.\n`)

const { chromium } = await import('../node_modules/playwright-core/index.mjs').catch(() => ({ chromium: null }))
if (chromium !== null) {
  const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
  const types: Record<string, string> = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    png: 'image/png',
    svg: 'image/svg+xml',
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname).slice(1)
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : /\.\w+$/.test(path) ? path : `${path}.html`
    try {
      const body = readFileSync(new URL(name, DIST))
      response.setHeader('content-type', types[name.split('.').at(-1)!] ?? 'application/octet-stream').end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const pages = [
    '',
    'tutorials/',
    'tutorials/getting-started',
    'how-to/',
    'how-to/unit-tests',
    'reference/',
    'reference/cli',
    'reference/checks/SIG-07',
    'reference/assumptions',
    'explanation/verdict',
  ]
  for (const scheme of ['light', 'dark'] as const)
    for (const page of pages) {
      const tab = await browser.newPage({ colorScheme: scheme })
      await tab.goto(`http://127.0.0.1:${port}/${page}`)
      await tab.evaluate(axe)
      const violations = (await tab.evaluate(
        // The button of the search shows a key beside its name.
        `axe.run({ rules: { 'label-content-name-mismatch': { enabled: false } } }).then(({ violations }) => violations.map(one => one.id + ': ' + one.nodes[0].target))`,
      )) as string[]
      for (const violation of violations) problems.push(`axe, ${scheme}, /${page}: ${violation}`)
      await tab.close()
    }
  process.stdout.write(`axe looked at ${pages.length} pages, light and dark.\n`)
  await browser.close()
  server.close()
}
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0

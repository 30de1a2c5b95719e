/** Fills the places of the pages that code knows: each block between `<!-- generated: NAME -->` and `<!-- end -->`. */
import { readdirSync, readFileSync } from 'node:fs'
import { keysOf } from '../src/base/objects.ts'
import { type FlagDefinition, type FlagTable, SETTING_FLAGS } from '../src/commands/command.ts'
import { EXIT_CODES } from '../src/commands/exit-codes.ts'
import { COMMAND_GROUPS, type COMMANDS, importCommand } from '../src/commands/main.ts'
import { ADDRESS_FLAGS } from '../src/commands/running-simulator.ts'
import { KEYS } from '../src/commands/terminal-keys.ts'
import { scenarioJsonSchema } from '../src/evaluation/scenario/format/json-schema.ts'
import { OPS } from '../src/evaluation/scenario/format/matchers.ts'
import { driverJsonSchema } from '../src/running/agent-driver/read-driver.ts'
import { INVARIANTS } from '../src/running/explorer/invariants.ts'
import { SETTINGS, TEXT_SETTINGS } from '../src/server/config/settings.ts'
import { controlOpenApi } from '../src/server/control/openapi.ts'
import { CHECK_BLOCKS } from './check-blocks.ts'
import { CONTRACT_BLOCKS } from './contract-blocks.ts'
import { code, codes, table } from './markdown.ts'

const ROOT = new URL('../', import.meta.url)

const aboutOf = (definition: string | FlagDefinition): string => {
  if (typeof definition === 'string') return definition
  const { description, choices, default: initial } = definition
  const values = choices === undefined ? '' : `: ${codes(choices)}`
  const byDefault = initial === undefined ? '' : ` (default: ${initial})`
  return `${description}${values}${byDefault}`
}

const flagTable = (flags: FlagTable): string => {
  const shown = Object.entries(flags).filter(([, one]) => typeof one === 'string' || one.hidden !== true)
  return table(
    ['flag', 'what it does'],
    shown.map(([flag, one]) => [code(flag), aboutOf(one)]),
  )
}

/** Flags that several commands share, each with the heading of its table in docs/reference/cli.md. */
const SHARED: readonly (readonly [FlagTable, string])[] = [
  [SETTING_FLAGS, 'setting flags'],
  [ADDRESS_FLAGS, 'address flags'],
]

/** Arguments and flags of a command; those that it shares with others are a link. */
async function flagsOf(name: string): Promise<string> {
  const command = await importCommand(name as keyof typeof COMMANDS)
  const left: Record<string, string | FlagDefinition> = { ...command.flags }
  const links: string[] = []
  for (const [shared, title] of SHARED) {
    if (!keysOf(shared).every(flag => flag in left)) continue
    for (const flag of keysOf(shared)) if (left[flag] === shared[flag]) delete left[flag]
    links.push(`[${title}](#${title.replace(' ', '-')})`)
  }
  const parts = Object.entries(command.arguments ?? {}).map(([one, about]) => `- ${code(one)}: ${about}\n`)
  if (Object.keys(left).length > 0) parts.push(`${parts.length > 0 ? '\n' : ''}${flagTable(left)}`)
  if (links.length > 0) parts.push(`${parts.length > 0 ? '\n' : ''}Also the ${links.join(' and the ')}.\n`)
  return parts.join('')
}

/** The parts of a JSON Schema and of the OpenAPI document that this file reads. */
interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly else?: Schema
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}
interface Operation {
  readonly summary: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: Schema
  readonly responses: Readonly<Record<string, Schema>>
}

const control = controlOpenApi() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const MOST_FIELDS = 13

/** `{ chat_id, text? }`: the fields of an object, or of the first of several. */
function fieldsOf(schema: Schema | undefined): string {
  if (schema === undefined) return ''
  if (schema.$ref !== undefined) return fieldsOf(control.components.schemas[schema.$ref.split('/').at(-1) ?? ''])
  if (schema.properties !== undefined) {
    const names = Object.keys(schema.properties).map(name => (schema.required?.includes(name) ? name : `${name}?`))
    const shown = names.length > MOST_FIELDS ? [...names.slice(0, MOST_FIELDS), '...'] : names
    return names.length === 0 ? '' : code(`{ ${shown.join(', ')} }`)
  }
  const [first] = (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).map(fieldsOf).filter(text => text !== '')
  return first ?? ''
}

const contentOf = ({ content = {} }: Schema): Schema | undefined => content['application/json']?.schema

/** Each workspace has some of the routes too, below its own path. */
const OF_WORKSPACES = '/_sim/workspaces/{workspace}/'

function routes(): string {
  const rows: string[][] = []
  for (const [path, methods] of Object.entries(control.paths)) {
    if (path.startsWith(OF_WORKSPACES)) continue
    for (const [method, operation] of Object.entries(methods)) {
      const query = (operation.parameters ?? []).filter(one => one.in === 'query').map(({ name }) => `${name}=`)
      const asked = query.length === 0 ? '' : code(`?${query.join('&')}`)
      const body = operation.requestBody === undefined ? '' : fieldsOf(contentOf(operation.requestBody))
      const [status = '', answer = {}] = Object.entries(operation.responses).find(([one]) => /^2/.test(one)) ?? []
      rows.push([
        code(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
        operation.summary,
        [asked, body].filter(text => text !== '').join(' '),
        `${status === '200' ? '' : `${status} `}${fieldsOf(contentOf(answer))}`.trim(),
      ])
    }
  }
  return table(['route', 'what it does', 'query and body', 'answer'], rows)
}

/** The keys of a map in a file, with what each is for. */
function keysTable(properties: Readonly<Record<string, Schema>>): string {
  const rows = Object.entries(properties).filter(([name]) => name !== '$schema')
  return table(
    ['key', 'what it is', 'example'],
    rows.map(([name, { description = '', examples = [] }]) => [
      code(name),
      description,
      codes(examples.map(one => JSON.stringify(one))),
    ]),
  )
}

const SCENARIO: Schema = scenarioJsonSchema()
const DRIVER: Schema = driverJsonSchema()

/** A step has one of several verbs, each with the same further keys. */
const stepShape = (schema: Schema): Readonly<Record<string, Schema>> =>
  schema.properties ??
  [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].map(stepShape)[0] ??
  {}

/** The codes of errors in the source of the control API, by status. */
function controlErrors(): string {
  const folder = new URL('src/server/', ROOT)
  const codes: Record<string, Set<string>> = {}
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts')))
    for (const [, status = '', name = ''] of readFileSync(new URL(file, folder), 'utf8').matchAll(
      /new ControlProblem\(\s*(\d{3}),\s*'([a-z_]+)'/g,
    )) {
      codes[status] ??= new Set()
      codes[status].add(code(name))
    }
  return table(
    ['status', 'codes'],
    Object.entries(codes).map(([status, names]) => [status, [...names].sort().join(', ')]),
  )
}

/** The settings of the config file that are no knobs. */
const configKeys = (): string =>
  table(
    ['key', 'what it is', 'value', 'default'],
    Object.entries(SETTINGS)
      .filter(([name]) => name !== 'inspector')
      .map(([name, { kind, initial, description = '' }]) => [
        code(name),
        description,
        kind.expected,
        initial === null ? '' : code(JSON.stringify(initial)),
      ]),
  )

/** Each block by its name; what follows the name in the marker is passed on. */
const BLOCKS: Readonly<Record<string, (argument: string) => string | Promise<string>>> = {
  commands: () =>
    Object.entries(COMMAND_GROUPS)
      .map(([group, commands]) =>
        table(
          [group.toLowerCase(), 'what it does'],
          Object.entries(commands).map(([name, text]) => [`[${code(name)}](#${name})`, text]),
        ),
      )
      .join('\n'),
  flags: flagsOf,
  'setting-flags': () => flagTable(SETTING_FLAGS),
  'address-flags': () => flagTable(ADDRESS_FLAGS),
  'exit-codes': () =>
    table(
      ['code', 'meaning'],
      EXIT_CODES.map(([numbers, meaning]) => [numbers, meaning]),
    ),
  keys: () =>
    table(
      ['key', 'what it does'],
      Object.entries(KEYS).map(([key, { text }]) => [code(key), text]),
    ),
  variables: () =>
    table(
      ['setting', 'flag', 'variable'],
      TEXT_SETTINGS.map(({ name, flag, env }) => [name, flag, env].map(code)),
    ),
  'config-keys': configKeys,
  routes,
  'scenario-keys': () => keysTable(SCENARIO.else?.properties ?? {}),
  'step-keys': () => keysTable(stepShape(SCENARIO.$defs?.Step ?? {})),
  matchers: () =>
    table(
      ['matcher', 'matches', 'takes'],
      Object.entries(OPS).map(([name, { matches, takes }]) => [code(name), matches, takes]),
    ),
  'driver-keys': () => keysTable(DRIVER.properties ?? {}),
  'target-keys': () => keysTable(DRIVER.properties?.target?.properties ?? {}),
  'fault-keys': () => keysTable(stepShape(SCENARIO.$defs?.Fault ?? {})),
  'control-errors': controlErrors,
  invariants: () =>
    table(
      ['invariant', 'what must hold'],
      keysOf(INVARIANTS).map(id => [code(id), INVARIANTS[id].about]),
    ),
  ...CONTRACT_BLOCKS,
  ...CHECK_BLOCKS,
}

const MARKED = /(<!-- generated: ([\w-]+)(?: ([^>]*?))? -->\n)[\s\S]*?(<!-- end -->)/g

/** The pages that have such blocks. */
export const pagesWithBlocks = (): string[] =>
  readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter(
      file => file.endsWith('.md') && readFileSync(new URL(`docs/${file}`, ROOT), 'utf8').includes('<!-- generated: '),
    )
    .map(file => `docs/${file}`)
    .sort()

/** The page with its blocks made anew. */
export async function pageWithBlocks(file: string): Promise<string> {
  const page = readFileSync(new URL(file, ROOT), 'utf8')
  const texts: string[] = []
  for (const [, , name = '', argument = ''] of page.matchAll(MARKED)) {
    const make = BLOCKS[name]
    if (make === undefined)
      throw new Error(`${file}: nothing generates ${name}; known are ${Object.keys(BLOCKS).join(', ')}.`)
    texts.push(await make(argument))
  }
  return page.replace(MARKED, (_, begin: string, _name, _argument, end: string) => `${begin}\n${texts.shift()}\n${end}`)
}

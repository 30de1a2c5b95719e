/** Compares docs/reference/cli.md with the commands and flags of the program. */

import { expect, it } from 'vitest'
import { keysOf } from '../../src/base/objects.ts'
import { EXIT_CODES } from '../../src/commands/exit-codes.ts'
import { COMMANDS, loadCommand, main } from '../../src/commands/main.ts'
import { readyLine } from '../../src/commands/start.ts'
import { startSimulator } from '../../src/index.ts'
import { filesIn } from '../architecture/files.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, inlineCode, PAGES, read, rows, section } from './pages.ts'

const PAGE = read('docs/reference/cli.md')
const NAMES = keysOf(COMMANDS)

async function helpOf(...argv: string[]): Promise<string> {
  const io = fakeIo(folderWith())
  expect(await main([...argv, '--help'], {}, io)).toBe(0)
  return io.stdout.text
}

it('has a section for each command', async () => {
  const help = (await helpOf()).split('Commands:')[1]!
  const listed = [...help.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!).filter(name => name !== 'help')
  expect(listed.sort()).toEqual([...NAMES].sort())
  for (const name of NAMES) expect(section(PAGE, `\`${name}\``), name).toContain(`<!-- generated: flags ${name} -->`)
})

it.each(NAMES)('lists exactly the flags of %s', async name => {
  const { flags } = await loadCommand(name)
  const has = Object.entries(flags).flatMap(([flag, one]) => (typeof one === 'object' && one.hidden ? [] : [flag]))
  const own = section(PAGE, `\`${name}\``)
  const flagsIn = (markdown: string) => rows(markdown).flatMap(([cell = '']) => /^`(--[^`]+)/.exec(cell)?.[1] ?? [])
  const documented = [
    ...flagsIn(own),
    ...(own.includes('Also the [setting flags]') ? flagsIn(section(PAGE, 'Setting flags')) : []),
    ...(own.includes('Also the [address flags]') ? flagsIn(section(PAGE, 'Address flags')) : []),
  ]
  expect(has.filter(flag => !documented.includes(flag))).toEqual([])
  expect(documented.filter(flag => !(flag in flags))).toEqual([])
})

it('lists the exit codes, as the help does', async () => {
  const help = (await helpOf()).split('Exit codes:')[1]!
  for (const [codes, meaning] of EXIT_CODES) {
    expect(help).toMatch(new RegExp(`^ {2}${codes} +\\S`, 'm'))
    expect(section(PAGE, 'Exit codes')).toContain(`| ${codes} | ${meaning} |`)
  }
})

it('shows the fields of the ready line', async () => {
  await using server = await startSimulator({ port: 0 })
  const shown = JSON.parse(blocks(PAGE, 'json')[0]!)
  expect(shown).toEqual({
    ...readyLine(server),
    url: 'http://127.0.0.1:4747',
    inspectorUrl: 'http://127.0.0.1:4747/',
    pid: 4242,
  })
  expect(Object.keys(shown)).toEqual(Object.keys(readyLine(server)))
})

it('shows the output of config', async () => {
  const [asked = '', ...lines] = blocks(section(PAGE, '`config`'), '')[0]!.split('\n')
  expect(asked).toBe('$ HANDOVER_SIM_PORT=5005 npx handover-sim config --set typing.webhook=off')
  const io = fakeIo(folderWith())
  await main(['config', '--set', 'typing.webhook=off'], { HANDOVER_SIM_PORT: '5005' }, io)
  expect(io.stdout.lines.slice(0, 2)).toEqual(lines.slice(0, 2))
})

/** Finds `handover-sim NAME` and `handover-sim.js NAME`, but no message in JSON that begins with the name of the program. */
const commandsIn = (text: string) =>
  [...text.matchAll(/(?<!")handover-sim(?:\.js)? ([a-z]+)/g)].map(([, name]) => name!)

it.each(PAGES)('%s names only commands that exist', page => {
  const text = read(page)
  const typed = [...inlineCode(text), ...blocks(text, ''), ...blocks(text, 'sh')].flatMap(commandsIn)
  expect(typed.filter(name => !Object.hasOwn(COMMANDS, name))).toEqual([])
})

it.each([
  ['start', '--webhook-url'],
  ['run', '--target'],
  ['certify', '--target'],
] as const)('the help of %s has groups, the most used flags first', async (name, first) => {
  const help = await helpOf(name)
  const groups = help.split(/^(\S.*):\n(?= {2}-)/m).slice(1)
  expect(groups.filter((_, index) => index % 2 === 0)).toEqual([
    'Most used',
    ...(name === 'start'
      ? ['What it shows and writes']
      : [`Which ${name === 'run' ? 'scenarios' : 'checks'}`, 'How they run']),
    'Settings of the simulator',
    'Options',
  ])
  expect(groups[1]).toMatch(new RegExp(`^  ${first} `))
  const flags = (await loadCommand(name)).flags
  const shown = Object.entries(flags).flatMap(([flag, about]) =>
    typeof about === 'object' && about.hidden ? [] : [flag.split(' ')[0]!],
  )
  const listed = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag!)
  expect(listed.sort()).toEqual(shown.sort())
})

it('texts of the program and blocks of the pages name commands with npx', () => {
  const bare = new RegExp(`(?<!npx )handover-sim (${NAMES.join('|')})\\b`)
  // A title of a schema, the name of a report, and what the script of a shell runs are no commands to type.
  const isOther = /^\s*(\*|\/\*\*|\/\/)|title:|command:|readonly command|< <\(/
  const texts = filesIn('src', '.ts', '.tsx').flatMap(file =>
    read(`src/${file}`)
      .split('\n')
      .filter(line => bare.test(line) && !isOther.test(line))
      .map(line => `${file}: ${line.trim()}`),
  )
  expect(texts).toEqual([])
  const typed = PAGES.flatMap(page => [...blocks(read(page), ''), ...blocks(read(page), 'sh')])
  expect(typed.flatMap(block => block.split('\n')).filter(line => /^(\$ )?handover-sim /.test(line))).toEqual([])
})

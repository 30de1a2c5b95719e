/** Writes the first files of a project that tests its intermediary (`handover-sim init`). */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { BUDGETS } from '../base/files/budgets.ts'
import { readRegularFile, refuseLinks } from '../base/files/user-files.ts'
import { jsonOr, keysOf } from '../base/objects.ts'
import { messageOf } from '../base/text/error-text.ts'
import { visible } from '../base/text/terminal-text.ts'
import { httpUrl } from '../platform/simulator/options.ts'
import { defineCommand, type FlagsOf } from './command.ts'
import {
  DESKS,
  type Desk,
  type InitChoices,
  initFiles,
  RUNNERS,
  type Runner,
  WORKFLOWS,
  type Workflow,
} from './init-files.ts'
import { EnvironmentError, UsageError } from './io.ts'

const FLAGS = {
  '--yes': 'ask nothing: take what is found here, and the flags',
  '--desk <kind>': { description: 'the API of your help desk', choices: keysOf(DESKS) },
  '--webhook-url <url>': 'where your service receives events (default: http://127.0.0.1:3000/webhook)',
  '--runner <name>': {
    description: 'the runner of your tests (default: the one of this folder)',
    choices: keysOf(RUNNERS),
  },
  '--ci <name>': {
    description: 'the workflow to write (default: that of this folder, else GitHub)',
    choices: keysOf(WORKFLOWS),
  },
} as const

type InitFlags = FlagsOf<typeof FLAGS>

const DEFAULT_WEBHOOK = 'http://127.0.0.1:3000/webhook'

export const initCommand = defineCommand({
  arguments: { '[folder]': 'the folder of the project, which need not exist (default: the working directory)' },
  flags: FLAGS,
  examples: {
    init: 'asks four questions, and writes the first files',
    'init my-intermediary --yes --desk zendesk --ci gitlab': 'without questions',
  },
  async run(context, flags, [folder = '.']) {
    const { io } = context
    const root = resolve(io.cwd, folder)
    if (existsSync(root) && !statSync(root).isDirectory())
      throw new UsageError(`${folder} must be a folder, and is a file.`)
    const isUrl = httpUrl(DEFAULT_WEBHOOK)
    if (flags.webhookUrl !== undefined && !isUrl.fits(flags.webhookUrl))
      throw new UsageError(`--webhook-url must be ${isUrl.expected}, got ${JSON.stringify(flags.webhookUrl)}.`)
    const project = findProject(root)
    const asks = !flags.yes && io.canAsk && !context.env.CI
    const choices = asks ? await askForChoices(flags, project) : withoutQuestions(flags, project)
    // Ctrl-C at a question: nothing is written.
    if (choices === null) return 130
    const files = initFiles({ ...choices, isModule: project.isModule })
    if (asks && !(await confirmed(Object.keys(files).filter(path => !existsSync(join(root, path)))))) return 130

    for (const [path, text] of Object.entries(files)) {
      if (existsSync(join(root, path))) {
        io.stdout.write(`exists   ${path}: left as it is\n`)
        continue
      }
      try {
        refuseLinks(root, dirname(join(root, path)))
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), text, { flag: 'wx' })
      } catch (error) {
        throw new EnvironmentError(`${path} cannot be written: ${messageOf(error)}.`)
      }
      io.stdout.write(`written  ${path}\n`)
    }
    const into = folder === '.' ? '' : `cd ${visible(folder)} && `
    const first = project.isInstalled
      ? 'npx handover-sim run --self-test'
      : 'npm install --save-dev handover-sim && npx handover-sim run --self-test'
    io.stdout.write(`
Try these:
  ${into}${first}${' '.repeat(4)}the scenarios pass against the built-in service
  ${into}${'npx handover-sim start --demo --open'.padEnd(first.length)}    watch a handover in the browser
  ${into}${'npx handover-sim doctor'.padEnd(first.length)}    is your service ready for the first event?
`)
    return 0
  },
})

interface FoundProject {
  readonly runner: Runner
  readonly workflow: Workflow
  readonly isModule: boolean
  readonly isInstalled: boolean
}

const Manifest = z.looseObject({
  type: z.optional(z.string()),
  scripts: z.optional(z.record(z.string(), z.unknown())),
  dependencies: z.optional(z.record(z.string(), z.unknown())),
  devDependencies: z.optional(z.record(z.string(), z.unknown())),
})

/** What the files of a folder say. */
function findProject(root: string): FoundProject {
  const has = (name: string) => existsSync(join(root, name))
  const manifest = has('package.json')
    ? Manifest.safeParse(jsonOr(readRegularFile(join(root, 'package.json'), BUDGETS.fileBytes).toString('utf8'), null))
        .data
    : undefined
  const packages = { ...manifest?.dependencies, ...manifest?.devDependencies }
  const usesNode = Object.values(manifest?.scripts ?? {}).some(script => /\bnode\b.*--test\b/.test(String(script)))
  const isPython = ['pyproject.toml', 'pytest.ini', 'requirements.txt', 'setup.cfg'].some(has)
  const runner =
    'vitest' in packages
      ? 'vitest'
      : 'jest' in packages
        ? 'jest'
        : usesNode
          ? 'node'
          : isPython
            ? 'pytest'
            : manifest
              ? 'node'
              : 'none'
  return {
    runner,
    workflow: has('.gitlab-ci.yml') ? 'gitlab' : 'github',
    isModule: manifest?.type === 'module',
    isInstalled: 'handover-sim' in packages,
  }
}

type Choices = Omit<InitChoices, 'isModule'>

const withoutQuestions = (
  { desk = 'own', webhookUrl = DEFAULT_WEBHOOK, runner, ci }: InitFlags,
  project: FoundProject,
): Choices => ({
  desk,
  webhookUrl,
  runner: runner ?? project.runner,
  workflow: ci ?? project.workflow,
})

/** Asks for what no flag says. Resolves with null when a person ends it. */
async function askForChoices(flags: InitFlags, project: FoundProject): Promise<Choices | null> {
  const { isCancel, select, text } = await import('@clack/prompts')
  const defaults = withoutQuestions(flags, project)
  const choose = <Name extends string>(message: string, of: Readonly<Record<Name, string>>, initialValue: Name) =>
    select<Name>({ message, initialValue, options: keysOf(of).map(value => ({ value, label: of[value] })) as never })
  const desk = flags.desk ?? (await choose<Desk>('The help desk of your agents:', DESKS, defaults.desk))
  if (isCancel(desk)) return null
  const isUrl = httpUrl(DEFAULT_WEBHOOK)
  const webhookUrl =
    flags.webhookUrl ??
    (await text({
      message: 'Where your service receives events:',
      initialValue: defaults.webhookUrl,
      validate: value => (isUrl.fits(value) ? undefined : `Write ${isUrl.expected}.`),
    }))
  if (isCancel(webhookUrl)) return null
  const runner = flags.runner ?? (await choose<Runner>('The runner of your tests:', RUNNERS, defaults.runner))
  if (isCancel(runner)) return null
  const workflow = flags.ci ?? (await choose<Workflow>('The workflow of CI:', WORKFLOWS, defaults.workflow))
  return isCancel(workflow) ? null : { desk, webhookUrl, runner, workflow }
}

/** Lists what will be written, and asks whether to. */
async function confirmed(paths: readonly string[]): Promise<boolean> {
  const { confirm, note } = await import('@clack/prompts')
  if (paths.length === 0) return true
  note(paths.join('\n'), 'These files will be written')
  return (await confirm({ message: 'Write them?' })) === true
}

/** Writes recorded scenarios into a folder, each as a new file. */
import { existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { systemCodeOf } from '../base/text/error-text.ts'
import type { Recorder } from '../server/control/recorder.ts'
import { UsageError } from './io.ts'

const MAX_NAME_CHARS = 60

export const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/** The folder of `--scenarios`; without it the folder `scenarios` beside the config file, where there is one. */
export function findScenarioFolder(flag: string | undefined, configFile: string | null, cwd: string): string | null {
  const folder = resolve(cwd, flag ?? join(configFile === null ? '.' : dirname(configFile), 'scenarios'))
  if (flag === undefined) return isFolder(folder) && !lstatSync(folder).isSymbolicLink() ? folder : null
  if (existsSync(folder) && !isFolder(folder))
    throw new UsageError(`--scenarios ${JSON.stringify(flag)} is not a folder.`)
  return folder
}

/** The scenario with the path of its schema as editors read it: from the folder of the file, not from that of the command. */
export const withSchemaPath = (yaml: string, file: string, cwd: string): string =>
  yaml.replace('$schema=./', () => `$schema=${relative(dirname(file), cwd).replaceAll('\\', '/') || '.'}/`)

/** The name has only letters, digits and hyphens, so the file is inside of the folder. An existing file stays as it is. */
export function createScenarioWriter(folder: string, cwd: string): Required<Recorder>['writeScenario'] {
  return ({ name, yaml }) => {
    mkdirSync(folder, { recursive: true })
    const words = name
      .toWellFormed()
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? ['scenario']
    const slug = [...words.join('-')].slice(0, MAX_NAME_CHARS).join('').replace(/-$/, '')
    for (let count = 1; ; count++) {
      const file = join(folder, `${slug}${count === 1 ? '' : `-${count}`}.yaml`)
      try {
        writeFileSync(file, withSchemaPath(yaml, file, cwd), { flag: 'wx' })
        return relative(cwd, file)
      } catch (error) {
        if (systemCodeOf(error) !== 'EEXIST') throw error
      }
    }
  }
}

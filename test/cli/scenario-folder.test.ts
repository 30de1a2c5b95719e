/** The scenarios folder of `start`: where it is, and which file a recording becomes. */
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createScenarioWriter, findScenarioFolder, withSchemaPath } from '../../src/commands/scenario-folder.ts'
import type { DrawnScenario } from '../../src/server/control/recorder.ts'
import { folderWith } from '../config/folder.ts'

const tried = { outcome: 'pass', duration_ms: 1, calls: 0, left_out: 0, noticed: 0, failures: [] } as const
const scenario = (name: string): DrawnScenario => ({ name, yaml: `name: ${name}\n`, notes: [], tried })

it('is that of the flag, or scenarios beside the config file where there is one', () => {
  const cwd = folderWith({ tests: null, 'tests/scenarios': null, file: '' })
  expect(findScenarioFolder(undefined, null, cwd)).toBeNull()
  expect(findScenarioFolder(undefined, join(cwd, 'tests/config.yaml'), cwd)).toBe(join(cwd, 'tests/scenarios'))
  expect(findScenarioFolder('new', null, cwd)).toBe(join(cwd, 'new'))
  expect(() => findScenarioFolder('file', null, cwd)).toThrow('--scenarios "file" is not a folder.')
})

it('gets a new file for each recording, whatever its name, and overwrites none', () => {
  const cwd = folderWith()
  const write = createScenarioWriter(join(cwd, 'new'), cwd)
  expect(write(scenario('../../Lost parcel!'))).toBe('new/lost-parcel.yaml')
  expect(write(scenario('lost parcel'))).toBe('new/lost-parcel-2.yaml')
  expect(readFileSync(join(cwd, 'new/lost-parcel.yaml'), 'utf8')).toBe('name: ../../Lost parcel!\n')
  symlinkSync(join(cwd, 'outside'), join(cwd, 'new/scenario.yaml'))
  expect(write(scenario('/..\\'))).toBe('new/scenario-2.yaml')
  write(scenario('x'.repeat(500)))
  expect(readdirSync(cwd)).toEqual(['new'])
})

it('names the schema from the folder of the file, as editors read it', () => {
  const yaml = '# yaml-language-server: $schema=./node_modules/a.json\nname: "$schema=./"\n'
  const cwd = folderWith()
  const write = createScenarioWriter(join(cwd, 'tests/scenarios'), cwd)
  const file = write({ ...scenario('Deep'), yaml })
  expect(readFileSync(join(cwd, file), 'utf8')).toBe(yaml.replace('=./', '=../../'))
  expect(withSchemaPath(yaml, join(cwd, 'one.yaml'), cwd)).toBe(yaml)
})

/** Serves the example intermediary in this process, so that a test of a command starts no program. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { type Patch, writeExample } from '../mutants/patch.ts'

const EXAMPLE = `${ROOT}examples/intermediary/`

export interface ExampleService {
  readonly webhookUrl: string
  /** An agent driver file for its help desk, as JSON. */
  readonly driver: string
  /** Sets the simulator that it calls. */
  usePlatform(url: string): void
  close(): Promise<void>
}

interface ExampleOptions {
  readonly platformUrl?: string
  /** Further variables that the example reads. */
  readonly env?: Readonly<Record<string, string>>
  readonly patches?: readonly Patch[]
}

/** Serves the example on a free port until the test ends. */
export async function serveExample(options: ExampleOptions = {}): Promise<ExampleService> {
  const { patches = [] } = options
  const folder = patches.length === 0 ? null : folderWith()
  if (folder !== null) writeExample(folder, patches)
  const service = await openExample(options, folder === null ? undefined : `${folder}/`)
  onTestFinished(() => service.close())
  return service
}

/** Like `serveExample`, for a service that several tests use: the caller closes it. */
export async function openExample(
  { platformUrl, env }: ExampleOptions = {},
  program = EXAMPLE,
): Promise<ExampleService> {
  const load = (name: string) => import(pathToFileURL(program + name).href)
  const { startIntermediary } = await load('intermediary.js')
  const settings = (await load('settings.js')).readSettings({ HANDOVER_SIM_URL: platformUrl, ...env })
  settings.port = 0
  // It logs on stderr.
  const { error } = console
  const log = vi.isMockFunction(error) ? null : vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url, close } = await startIntermediary(settings)
  const driver = { ...parse(readFileSync(`${EXAMPLE}driver.yaml`, 'utf8')), http: url }
  return {
    webhookUrl: `${url}/webhook`,
    driver: JSON.stringify(driver),
    usePlatform(platform) {
      settings.platform.url = platform
    },
    async close() {
      await close()
      log?.mockRestore()
    },
  }
}

/** `startSimulator` as tests use it: the same behind a real port. */
import { type PlatformServer, type PlatformServerOptions, startServer } from '../server/start.ts'
import { validateOptions } from '../simulator/validate-options.ts'
import type { PlatformWorkspace, PlatformWorkspaceOptions } from '../simulator/workspaces/workspace.ts'
import { SERVER, WORKSPACE } from './option-shapes.ts'
import { type Expectations, type TestOptions, withExpectations } from './simulator.ts'

export type ServerOptions = PlatformServerOptions & TestOptions
export type WorkspaceOptions = PlatformWorkspaceOptions & TestOptions
export type Workspace = Omit<PlatformWorkspace, keyof Expectations> & Expectations

export interface SimulatorServer extends Omit<PlatformServer, keyof Expectations | 'workspace'>, Expectations {
  /** One more simulator behind the same port: calls find it by its API keys. Closing it leaves the others alone. */
  workspace(options?: WorkspaceOptions): Promise<Workspace>
}

/** Rejects with `PortInUseError` or `ListenError` when the port cannot be had, `InvalidOptionError` for other options. */
export async function startSimulator(options: ServerOptions = {}): Promise<SimulatorServer> {
  validateOptions('startSimulator', options, SERVER)
  const server = await startServer(options)
  const open = server.workspace
  return Object.assign(withExpectations(server, options, SETTLE_MS), {
    async workspace(all: WorkspaceOptions = {}) {
      validateOptions('workspace', all, WORKSPACE)
      const { agent, expectTimeout, ...wanted } = all
      return withExpectations(await open(wanted), { ...waitOf(options), ...pick({ agent, expectTimeout }) }, SETTLE_MS)
    },
  })
}

/** What is beyond a socket may take a moment to call. */
const SETTLE_MS = 300

/** A workspace waits as its server does; an agent it has only when it is given one. */
const waitOf = ({ expectTimeout }: TestOptions) => pick({ expectTimeout })

const pick = (options: TestOptions): TestOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

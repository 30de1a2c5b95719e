/** Replaces `start.ts` in browsers, where no server can listen. */
export type { PlatformServer, PlatformServerOptions } from './start.ts'

export async function startServer(): Promise<never> {
  throw new Error('startSimulator needs Node. In a browser use createSimulator, with handlers of handover-sim/msw.')
}

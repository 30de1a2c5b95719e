/** One simulator for all test files, in whichever processes they run. */
import { startSimulator } from 'handover-sim'

export default async function setup(project) {
  const server = await startSimulator({ port: 0 })
  project.provide('simulatorUrl', server.url)
  return () => server.close()
}

/** Starts one simulator for all test files and processes. */
import { startSimulator } from 'handover-sim'

export default async function setup(project) {
  const server = await startSimulator({ port: 0 })
  project.provide('simulatorUrl', server.url)
  return () => server.close()
}

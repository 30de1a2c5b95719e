/** Opens a workspace of the shared simulator with the intermediary under test as its webhook. */
import { createServer } from 'node:http'
import { inject, onTestFinished } from 'vitest'
import { createIntermediary } from './intermediary.js'

async function send(method, url, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${answer.error.message}`)
  return answer
}

/** Opens a workspace and deletes it when the test ends. Without a name, no two tests can choose the same one. */
export async function openWorkspace() {
  const app = createServer()
  await new Promise(resolve => app.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void app.close())
  const workspace = await send('POST', `${inject('simulatorUrl')}/_sim/workspaces`, {
    clock: 'virtual',
    webhook_url: `http://127.0.0.1:${app.address().port}/webhook`,
  })
  onTestFinished(() => send('DELETE', workspace.control))
  app.on('request', createIntermediary(workspace))
  return { ...workspace, sim: (method, path, body) => send(method, workspace.control + path, body) }
}

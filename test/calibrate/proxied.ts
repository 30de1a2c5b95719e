/** Records with `handover-sim proxy`, which stands between an intermediary and a simulator that plays the real platform. */
import { onTestFinished, vi } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { KnobSettings } from '../../src/platform/contract/knobs.ts'
import { bodyOf, KEY, serverWith, startProxy } from '../server/proxy/setup.ts'
import type { Stage } from './exercise.ts'
import { bodyBytes, pathOf, sentHeaders, type WebhookAnswer } from './recorder.ts'

/** The clock of the platform is virtual; that of the proxy is moved with it. */
const dayTime = Date.now
let aheadMs = 0
const STEP_MS = 250

/** `lines`: of the file that the proxy wrote. */
export async function createProxiedStage(
  knobs: KnobSettings,
): Promise<Stage & { lines(): Promise<readonly string[]> }> {
  vi.spyOn(Date, 'now').mockImplementation(() => dayTime() + aheadMs)
  onTestFinished(() => void vi.restoreAllMocks())
  const platform = await startSimulator({
    ...{ port: 0, clock: 'virtual' },
    knobs: { 'keys.handover': KEY, 'keys.more': ['second-key:2002'], ...knobs },
  })
  onTestFinished(() => platform.close())
  const answers: WebhookAnswer[] = []
  let lastEvent: ReturnType<Stage['lastEvent']>
  const webhook = await serverWith(async (request, response) => {
    const body = await bodyOf(request)
    lastEvent = JSON.parse(String(body))
    const { status, headers = {}, wait } = answers.shift() ?? { status: 200 }
    await wait?.until
    response.writeHead(status, headers).end('ok')
  })
  const proxy = await startProxy(platform.url, `${webhook.url}/webhook`)
  await platform.configure({ 'webhook.url': proxy.deliveryUrl })

  async function send(path: string, init: RequestInit) {
    const { pathname, search } = new URL(path, platform.url)
    await (await fetch(proxy.url + pathname + search, { redirect: 'manual', ...init })).arrayBuffer()
  }

  return {
    sim: platform,
    async lines() {
      await proxy.client('POST', '/settle')
      return proxy.file().split('\n')
    },
    lastEvent: () => lastEvent,
    webhookUrl: `${webhook.url}/webhook`,
    answerNext: (...next) => void answers.push(...next),
    clearAnswers: () => void answers.splice(0),
    async advance(ms) {
      // In steps, so that what happens meanwhile has its time in the recording.
      const step = ms <= 30_000 ? STEP_MS : ms
      for (let left = ms; left > 0; left -= step) {
        aheadMs += Math.min(step, left)
        await platform.clock.advance(`${Math.min(step, left)}ms`)
      }
    },
    call: (name, body, options = {}) =>
      send(pathOf(name, options), {
        method: 'POST',
        headers: sentHeaders(KEY, options),
        body: bodyBytes(body, options),
      }),
    get: (url, key) => send(url, { headers: key === null ? {} : { authorization: `Bearer ${key}` } }),
    chat: options => platform.chat(options),
  }
}

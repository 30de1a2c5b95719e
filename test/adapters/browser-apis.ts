/** Defines tests of interception for an environment with the APIs of a browser. */

import { createServer, request as requestHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import axios from 'axios'
import { expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'

const ORIGIN = 'https://bot.example.test'

function intercepted(baseUrl = ORIGIN): PlatformSimulator {
  const sim = createSimulator({ baseUrl })
  const interception = intercept(sim)
  onTestFinished(() => interception.stop())
  return sim
}

const calls = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' }).length

/** Rejects for a network error, as `XMLHttpRequest` reports it. */
function sendXhr(method: string, url: string, headers: Record<string, string> = {}, body: string | null = null) {
  return new Promise<XMLHttpRequest>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.onload = () => resolve(request)
    request.onerror = () => reject(new Error('network error'))
    request.send(body)
  })
}

const MESSAGE = (sim: PlatformSimulator, chatId: string) =>
  JSON.stringify({
    bot_id: sim.botId,
    chat_id: chatId,
    message: 'Hei 👋',
    sender: { name: 'Anna', avatar: 'https://x.example.test/a.png' },
  })

export function describeBrowserApis(): void {
  const before = [globalThis.fetch, globalThis.XMLHttpRequest]

  it('XMLHttpRequest reaches the simulator, without a preflight request', async () => {
    const sim = intercepted()
    const chat = await sim.chat()
    await chat.press('handover')
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const request = await sendXhr('POST', `${ORIGIN}/api/v2/handover/message/`, headers, MESSAGE(sim, chat.id))
    expect([request.status, JSON.parse(request.responseText).event]).toEqual([200, 'MESSAGE SENT TO USER'])
    expect(chat.transcript.at(-1)).toMatchObject({ from: 'agent', text: 'Hei 👋' })
    expect(calls(sim)).toBe(1)
  })

  it('axios and fetch reach the simulator, and node:http too', async () => {
    const sim = intercepted()
    const url = `${ORIGIN}/api/v1/chats/none`
    const authorization = 'Bearer none'
    const byAxios = await axios.get(url, { adapter: 'xhr', headers: { authorization }, validateStatus: () => true })
    const byFetch = await fetch(url, { headers: { authorization } })
    const byNode = await new Promise(resolve => {
      requestHttp(
        { host: 'bot.example.test', port: 443, protocol: 'http:', path: 'https://bot.example.test/x' },
        answer => resolve(answer.resume().statusCode),
      ).end()
    })
    expect([byAxios.status, byFetch.status, byNode]).toEqual([401, 401, 404])
    expect(await byFetch.json()).toEqual(byAxios.data)
    expect(calls(sim)).toBe(3)
  })

  it('a lost response is a network error', async () => {
    const sim = intercepted()
    const url = `${ORIGIN}/api/v1/chats/${(await sim.chat()).id}`
    sim.faults.add({ reset: true, on: { api: 'any' }, times: 2 })
    const headers = { authorization: `Bearer ${sim.botApiKey}` }
    await expect(sendXhr('GET', url, headers)).rejects.toThrow('network error')
    await expect(fetch(url, { headers })).rejects.toThrow()
    expect((await sendXhr('GET', url, headers)).status).toBe(200)
  })

  it('other requests go to their own address', async () => {
    const server = createServer((_, response) => {
      response.setHeader('access-control-allow-origin', '*')
      response.end('other')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    const sim = intercepted()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
    expect((await sendXhr('GET', url)).responseText).toBe('other')
    expect(await (await fetch(url)).text()).toBe('other')
    expect(calls(sim)).toBe(0)
  })

  it('nothing remains after the interception', () => {
    intercept(createSimulator({ baseUrl: ORIGIN })).stop()
    expect([globalThis.fetch, globalThis.XMLHttpRequest]).toEqual(before)
  })
}

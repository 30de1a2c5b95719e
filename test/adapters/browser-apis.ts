/** Defines tests of interception for an environment with the APIs of a browser. */

import { request as requestHttp } from 'node:http'
import axios from 'axios'
import { expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { callsOf, startElsewhere } from './elsewhere.ts'

const ORIGIN = 'https://bot.example.test'
const SENDER = { name: 'Anna', avatar: 'https://x.example.test/a.png' }

function intercepted(): PlatformSimulator {
  const before = [globalThis.fetch, globalThis.XMLHttpRequest]
  const sim = createSimulator({ baseUrl: ORIGIN })
  const interception = intercept(sim)
  onTestFinished(() => {
    interception.stop()
    expect([globalThis.fetch, globalThis.XMLHttpRequest]).toEqual(before)
  })
  return sim
}

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

export function describeBrowserApis(): void {
  it('XMLHttpRequest, axios, fetch and node:http reach the simulator, without a preflight request', async () => {
    const sim = intercepted()
    const { id } = await sim.chat()
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: id, message: 'Hei 👋', sender: SENDER })
    const request = await sendXhr('POST', `${ORIGIN}/api/v2/handover/message/`, headers, body)
    expect([request.status, JSON.parse(request.responseText).event]).toEqual([200, 'MESSAGE SENT TO USER'])
    expect(sim.findChat(id)!.transcript).toMatchObject([{ from: 'agent', text: 'Hei 👋' }])

    const [url, authorization] = [`${ORIGIN}/api/v1/chats/none`, 'Bearer none']
    const byAxios = await axios.get(url, { adapter: 'xhr', headers: { authorization }, validateStatus: () => true })
    const byFetch = await fetch(url, { headers: { authorization } })
    const byNode = await new Promise(resolve => {
      const options = { host: 'bot.example.test', port: 443, protocol: 'http:', path: `${ORIGIN}/x` }
      requestHttp(options, answer => resolve(answer.resume().statusCode)).end()
    })
    expect([byAxios.status, byFetch.status, byNode]).toEqual([401, 401, 404])
    expect(await byFetch.json()).toEqual(byAxios.data)
    expect(callsOf(sim)).toBe(4)
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
    const url = `${await startElsewhere()}/x`
    const sim = intercepted()
    expect((await sendXhr('GET', url)).responseText).toBe('GET /x')
    expect(await (await fetch(url)).text()).toBe('GET /x')
    expect(callsOf(sim)).toBe(0)
  })
}

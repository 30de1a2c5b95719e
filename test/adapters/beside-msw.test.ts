/** Intercepts beside msw, which has an own version of the interceptors: 2 patches `fetch`, 3 patches sockets. */

import axios from 'axios'
import { http as http2 } from 'msw'
import { setupServer as setup2 } from 'msw/node'
import { http as http3 } from 'msw3'
import { setupServer as setup3 } from 'msw3/node'
import { Agent, request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { GET, overNode, withFetch } from './clients.ts'

const URL = 'https://bot.example.test/api/v1/chats/none'
const OTHER = 'https://other.example.test/x'

const answer = () => new Response('of msw')
const SERVERS = {
  'msw 2': () => {
    const server = setup2(http2.get(OTHER, answer))
    server.listen({ onUnhandledRequest: 'bypass' })
    return server
  },
  'msw 3': () => {
    const server = setup3(http3.get(OTHER, answer))
    server.listen({ onUnhandledFrame: 'bypass' })
    return server
  },
}

describe.each(Object.entries(SERVERS))('%s', (_, listen) => {
  it.each(['before', 'after'])('both answer their requests: intercept %s listen', async order => {
    const sim = createSimulator()
    const early = order === 'before' ? intercept(sim) : null
    const server = listen()
    const interception = early ?? intercept(sim)
    onTestFinished(() => {
      interception.stop()
      server.close()
    })
    expect((await withFetch(URL, GET)).status).toBe(401)
    expect((await overNode(URL, GET)).status).toBe(401)
    expect((await request(URL, { dispatcher: new Agent() })).statusCode).toBe(401)
    expect((await withFetch(OTHER, GET)).text).toBe('of msw')
    expect((await axios.get(OTHER, { adapter: 'http' })).data).toBe('of msw')
    expect(sim.journal.query({ kind: 'api' })).toHaveLength(3)
  })
})

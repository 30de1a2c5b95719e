/** Wraps common HTTP clients in one function type. */
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import axios from 'axios'
import got from 'got'
import { request as undiciRequest } from 'undici'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

export interface Sent {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

export const GET: Sent = { method: 'GET', headers: {} }

export interface Got {
  readonly status: number
  readonly text: string
}

export type Client = (url: string, sent: Sent) => Promise<Got>

const read = async (response: IncomingMessage): Promise<Got> => {
  return { status: response.statusCode!, text: Buffer.concat(await response.toArray()).toString() }
}

export const overNode: Client = (url, { method, headers, body }) =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? overHttps : overHttp
    const request = send(url, { method, headers }, response => void read(response).then(resolve, reject))
    request.on('error', reject).end(body)
  })

const withAxios =
  (adapter: 'http' | 'fetch'): Client =>
  async (url, { method, headers, body }) => {
    const options = { adapter, url, method, headers, data: body, validateStatus: () => true, proxy: false } as const
    const { status, data } = await axios({ ...options, transformResponse: (text: string) => text })
    return { status, text: data ?? '' }
  }

export const withFetch: Client = async (url, { method, headers, body }) => {
  const answer = await fetch(url, { method, headers, body: body ?? null })
  return { status: answer.status, text: await answer.text() }
}

const withUndici: Client = async (url, { method, headers, body }) => {
  const answer = await undiciRequest(url, { method: method as 'GET', headers, body: body ?? null })
  return { status: answer.statusCode, text: await answer.body.text() }
}

const withGot: Client = async (url, { method, headers, body }) => {
  const options = { method: method as 'GET', headers, throwHttpErrors: false, retry: { limit: 0 } }
  const answer = await got(url, body === undefined ? options : { ...options, body })
  return { status: answer.statusCode, text: answer.body }
}

export const CLIENTS: Readonly<Record<string, Client>> = {
  fetch: withFetch,
  'undici.request': withUndici,
  'node:http and node:https': overNode,
  axios: withAxios('http'),
  'axios over fetch': withAxios('fetch'),
  got: withGot,
}

/** Sends a message of the agent Anna to a chat. */
export function sendMessage(send: Client, sim: PlatformSimulator, chat_id: string, message: string): Promise<Got> {
  const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
  return send(`${sim.baseUrl}/api/v2/handover/message/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: sim.botId, chat_id, message, sender }),
  })
}

// @ts-check
// Calls the control API of the simulator and the API of the help desk.

import { readFileSync } from 'node:fs'

/** @typedef {ReturnType<typeof client>} Client */

/** @param {string} readyFile the file of `start --ready-file` */
export function client(readyFile) {
  const { url, webhookUrl } = JSON.parse(readFileSync(readyFile, 'utf8'))
  const deskUrl = new URL(webhookUrl).origin
  let after = 0

  return {
    /** @param {object} options @returns {Promise<string>} the chat's id */
    newChat: async options => (await call('POST', `${url}/_sim/chats`, options)).chat_id,

    /** @type {(chat: string, button: string) => Promise<any>} */
    press: (chat, button) => call('POST', `${url}/_sim/chats/${chat}/press?wait=ack`, { button }),

    /** @type {(chat: string, text: string, attachments?: object[]) => Promise<any>} */
    writes: (chat, text, attachments = []) =>
      call('POST', `${url}/_sim/chats/${chat}/messages?wait=ack`, { text, attachments }),

    /** @type {(path: string, body?: object) => Promise<any>} */
    desk: (path, body = {}) => call('POST', deskUrl + path, body),

    /** Waits without polling until the intermediary makes this call. @type {(name: string, chat?: string) => Promise<void>} */
    called: async (name, chat) => {
      const about = chat === undefined ? '' : `&chat_id=${chat}`
      const entry = await call('GET', `${url}/_sim/wait?call=${name}${about}&after=${after}&timeout=10s`)
      after = entry.seq
    },

    settle: () => call('POST', `${url}/_sim/settle`, {}),

    /** @type {(chat: string) => Promise<any>} */
    chat: chat => call('GET', `${url}/_sim/chats/${chat}`),
  }
}

/** @type {(method: string, url: string, body?: object) => Promise<any>} */
async function call(method, url, body) {
  const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...init })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`)
  return text === '' ? null : JSON.parse(text)
}

// @ts-check
// Makes the pending calls: in order within a chat, in parallel between chats.

import { showHistory } from './history.js'
import { log } from './log.js'

/** @typedef {import('./conversation.js').CallQueue} CallQueue */
/** @typedef {import('./platform.js').Call} Call */

export class Outbox {
  #platform
  #store
  /** @type {Map<CallQueue, Promise<void>>} */
  #busy = new Map()

  /**
   * @param {import('./platform.js').Platform} platform
   * @param {import('./store.js').Store} store
   */
  constructor(platform, store) {
    this.#platform = platform
    this.#store = store
  }

  /**
   * Stores calls as data, so that a restart continues with them.
   * @param {CallQueue} queue
   * @param {Call} call
   */
  add(queue, call) {
    queue.outbox.push(call)
    this.#store.save()
    this.#wake(queue)
  }

  /** Continues with the calls of the state file. */
  resume() {
    for (const queue of this.#store.queues()) this.#wake(queue)
  }

  /** Resolves when every queue is empty. */
  async idle() {
    await Promise.all(this.#busy.values())
  }

  /** @param {CallQueue} queue */
  #wake(queue) {
    if (this.#busy.has(queue) || queue.outbox.length === 0) return
    this.#busy.set(queue, this.#drain(queue))
  }

  /** @param {CallQueue} queue */
  async #drain(queue) {
    while (queue.outbox[0]) await this.#send(queue, queue.outbox[0])
    // There must be no `await` between the last read of the outbox and this line: otherwise a call
    // that is added in between would never be made.
    this.#busy.delete(queue)
  }

  /**
   * Removes the call after its answer, so that a crash repeats it instead of losing it.
   * One that fails is reported and the next one gets its turn. A refused key is different: it
   * would be refused for the whole row, so the row is given up until the agent acts again. So is
   * the row of a chat that is gone: no event says that its user has left.
   * @param {CallQueue} queue
   * @param {Call} call the first of the queue
   */
  async #send(queue, call) {
    const outcome = await this.#platform.send(call)
    const isFinal = outcome.keyRefused || outcome.gone
    const finished = queue.outbox.splice(0, isFinal ? queue.outbox.length : 1)
    if (outcome.ok) log(`${call.name} done: ${queue.id}`)
    else for (const failed of finished) report(queue, failed, outcome.reason)
    if (outcome.ok) this.#confirmed(queue, call, outcome.answer)
    if (outcome.gone) closeAsGone(queue)
    this.#store.save()
  }

  /**
   * Reads what was written before `start` once `start` has its answer, and not earlier: nothing is
   * missing between what is read and what comes by webhook.
   * @type {(queue: CallQueue, call: Call, answer: any) => void}
   */
  #confirmed({ id }, { name, body, after, before }, answer) {
    const chat = this.#store.chats.get(id)
    if (!chat) return
    if (name === 'transcript') showHistory(chat, answer.chat.messages, { after, before })
    if (name !== 'start' && name !== 'end') return
    const [last, notice] = [chat.notice, answer.chatmessage_id]
    chat.notice = notice
    if (name === 'end') return
    const { bot_id, chat_id } = body
    this.add(chat.reads, { name: 'transcript', body: { bot_id, chat_id }, after: last, before: notice })
  }
}

/**
 * Shows the failed call to the agent, with the text that the user did not get.
 * @type {(queue: CallQueue, call: Call, reason: string) => void}
 */
function report(queue, { name, body }, reason) {
  const at = new Date().toISOString()
  queue.problems.push({ at, call: name, reason, text: body.message })
  if (name === 'start' || name === 'end') queue.failed = name
  log(`${name} given up: ${queue.id}, ${reason}`)
}

/**
 * Closes the conversation at the desk: the agent can write no more, and sees the problem.
 * @param {CallQueue} queue
 */
function closeAsGone(queue) {
  if ('status' in queue) Object.assign(queue, { status: 'closed', failed: null, typing: false })
}

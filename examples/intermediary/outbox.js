// @ts-check
// The calls that still have to be made: in order within a chat, side by side between chats.

import { log } from './log.js'

/** @typedef {import('./conversation.js').Lane} Lane */
/** @typedef {import('./platform.js').Call} Call */

export class Outbox {
  #platform
  #store
  /** @type {Map<Lane, Promise<void>>} */
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
   * Calls are data, not running code: that is why a restart can go on with them.
   * @param {Lane} lane
   * @param {Call} call
   */
  add(lane, call) {
    lane.outbox.push(call)
    this.#store.save()
    this.#wake(lane)
  }

  /** Goes on with what the state file says was not done when the last process ended. */
  resume() {
    for (const lane of this.#store.lanes()) this.#wake(lane)
  }

  /** Settles when every lane has run dry. */
  async idle() {
    await Promise.all(this.#busy.values())
  }

  /** @param {Lane} lane */
  #wake(lane) {
    if (this.#busy.has(lane) || lane.outbox.length === 0) return
    this.#busy.set(lane, this.#drain(lane))
  }

  /** @param {Lane} lane */
  async #drain(lane) {
    while (lane.outbox[0]) await this.#send(lane, lane.outbox[0])
    // No `await` between the last look at the outbox and this line: a call that is added later
    // must find the lane asleep, or nobody would wake it.
    this.#busy.delete(lane)
  }

  /**
   * The call leaves the outbox only after its answer, so a crash repeats it rather than loses it.
   * One that fails is reported and the next one gets its turn. A refused key is different: it
   * would be refused for the whole row, so the row is given up until the agent acts again.
   * @param {Lane} lane
   * @param {Call} call the first of the lane
   */
  async #send(lane, call) {
    const outcome = await this.#platform.send(call)
    const finished = lane.outbox.splice(0, outcome.keyRefused ? lane.outbox.length : 1)
    if (outcome.ok) log(`${call.name} done: ${lane.id}`)
    else for (const failed of finished) report(lane, failed, outcome.reason)
    this.#store.save()
  }
}

/**
 * The agent can read it, with the words the user did not get.
 * @type {(lane: Lane, call: Call, reason: string) => void}
 */
function report(lane, { name, body }, reason) {
  const at = new Date().toISOString()
  lane.problems.push({ at, call: name, reason, text: body.message })
  if (name === 'start' || name === 'end') lane.failed = name
  log(`${name} given up: ${lane.id}, ${reason}`)
}

// @ts-check
// Stores what must survive a restart. After a lost takeover the bot would stay silent.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { newQueue } from './conversation.js'
import { log } from './log.js'

/** @typedef {import('./conversation.js').Conversation} Conversation */
/** @typedef {import('./conversation.js').CallQueue} CallQueue */

export class Store {
  /** @type {Map<string, Conversation>} */
  chats = new Map()
  /** Availability belongs to the bot, so its calls have a queue of their own. */
  availability = newQueue('availability')
  #file

  /** @param {string | null} file null: memory only */
  constructor(file) {
    this.#file = file
    if (file === null) return
    this.#load(file)
    // Writes once at the start, so that a missing folder is an error now and not later.
    this.#write(file)
  }

  /** @returns {CallQueue[]} */
  queues() {
    const chats = [...this.chats.values()]
    return [this.availability, ...chats, ...chats.map(({ reads }) => reads)]
  }

  /** A full disk does not stop the server, because the data is in memory. */
  save() {
    if (this.#file === null) return
    try {
      this.#write(this.#file)
    } catch (error) {
      log(`Cannot save the state: ${error}`)
    }
  }

  /**
   * Rename replaces the old file in one step, so a crash leaves either the old state or the new
   * one, never half a file. Synchronous, because what is written here is acknowledged right after.
   * @param {string} file
   */
  #write(file) {
    const chats = [...this.chats.values()].filter(isUnfinished)
    const text = JSON.stringify({ version: 1, availability: this.availability, chats })
    writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
    renameSync(`${file}.tmp`, file)
  }

  /** @param {string} file */
  #load(file) {
    const text = readIfThere(file)
    if (text === null) return
    const state = parseState(text, file)
    this.availability = state.availability
    this.chats = new Map(state.chats.map((/** @type {Conversation} */ chat) => [chat.id, chat]))
  }
}

/** @param {Conversation} conversation */
function isUnfinished({ status, outbox, failed }) {
  return status !== 'closed' || outbox.length > 0 || failed !== null
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (/** @type {any} */ error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Refuses a file of another program instead of overwriting it.
 * @type {(text: string, file: string) => any}
 */
function parseState(text, file) {
  try {
    const state = JSON.parse(text)
    if (state.version === 1) return state
  } catch {
    // Falls through to the one message for everything that is not a state file.
  }
  throw new Error(`${file} is not a state file of this program. Move it away or set STATE_FILE.`)
}

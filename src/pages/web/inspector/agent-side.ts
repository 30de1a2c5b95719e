/** The agent's side of the page: the agent's profile, the queue, and the calls that the page makes as an intermediary. */

import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { isMap, jsonOr } from '../../../base/objects.ts'
import { createSequence } from '../../../base/runtime/sequence.ts'
import { messageOf } from '../../../base/text/error-text.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import type { PlatformKeys } from '../../../server/control/routes/description.ts'
import { type ControlClient, callPlatform, type PlatformResponse } from '../client/control.ts'
import type { AgentQueue } from '../model/agent-queue.ts'
import { countUntil, type JournalLog } from '../model/journal-log.ts'
import { type CodeCall, keyFor } from '../model/snippets.ts'
import type { View } from './address.ts'

/** Who the agent is, for `sender` of the calls. Kept in this browser. */
export interface AgentProfile {
  readonly name: string
  readonly avatar: string
  /** Separated by commas; empty for none. */
  readonly languages: string
  readonly supportsAttachment: boolean
  /** Whether writing a message calls `typing_start` and `typing_stop`. */
  readonly showsTyping: boolean
}

/** A call that the page made, with its answer once it came. */
export interface DeskCall {
  readonly endpoint: EndpointId
  readonly code: CodeCall
  readonly requestId: string
  /** The last entry before the call. */
  readonly afterSeq: number
  /** The answer, or why there is none. */
  readonly response: ReadonlySignal<PlatformResponse | { readonly failure: string } | null>
}

export interface AgentSide {
  readonly profile: Signal<AgentProfile>
  readonly queue: ReadonlySignal<AgentQueue>
  readonly lastCall: ReadonlySignal<DeskCall | null>
  /** Whether the user wants to play although an intermediary or a help desk does. */
  readonly playsAnyway: Signal<boolean>
  /**
   * Calls an endpoint about a chat, after the calls before it; not at an earlier moment. `body` has what belongs beside the ids.
   * A quiet call becomes the last one only when it is refused, and is left out for a chat that no longer exists.
   * Resolves to whether the platform accepted it.
   */
  call(
    endpoint: EndpointId,
    chatId: string | null,
    body?: object,
    options?: { readonly isQuiet: boolean },
  ): Promise<boolean>
  /** The entry of a call in the journal; null until it arrives. */
  entryOf(call: DeskCall): number | null
}

/** What the agent's side needs of the session. */
interface AgentPorts {
  readonly client: ControlClient
  readonly origin: URL
  readonly view: View
  readonly chatIds: ReadonlySignal<readonly string[]>
  readonly log: ReadonlySignal<JournalLog>
  act(run: () => Promise<unknown>): void
}

export function createAgentSide({ client, origin, view, chatIds, log, act }: AgentPorts): AgentSide {
  const profile = signal(readProfile())
  effect(() => writeStored(PROFILE, JSON.stringify(profile.value)))
  const queue = computed(() => log.value.queue())
  const lastCall = signal<DeskCall | null>(null)
  const inOrder = createSequence()
  let requests = 0
  return {
    profile,
    queue,
    lastCall,
    playsAnyway: signal(false),
    async call(endpoint, chat, body = {}, { isQuiet } = { isQuiet: false }) {
      const chatId = chat ?? ''
      if (view.at.peek() !== null || (isQuiet && !chatIds.peek().includes(chatId))) return false
      const done = inOrder(async () => {
        const keys = await client.send<PlatformKeys>('GET', '/keys')
        const botId = queue.peek().botIdOf(chatId) ?? keys.bot_id
        const afterSeq = log.peek().entries.at(-1)?.seq ?? 0
        const requestId = `page-${afterSeq}-${++requests}`
        const response = signal<PlatformResponse | { readonly failure: string } | null>(null)
        const code = buildCall(origin, endpoint, botId, chatId, body)
        const call = { endpoint, code, requestId, afterSeq, response }
        if (!isQuiet) lastCall.value = call
        const request = { method: code.method, url: new URL(code.url), body: code.body, requestId }
        const given = await callPlatform({ ...request, key: keyFor(endpoint, botId, keys) }).catch(
          (error: unknown) => ({ failure: messageOf(error) }),
        )
        response.value = given
        const isRefused = 'failure' in given || given.status >= 400
        if (isRefused) lastCall.value = call
        return !isRefused
      })
      act(() => done)
      return done.catch(() => false)
    },
    entryOf({ requestId, afterSeq }) {
      const { entries } = log.value
      for (let index = countUntil(entries, afterSeq); index < entries.length; index++) {
        const entry = entries[index]
        if (entry?.kind === 'api' && entry.request.headers['x-request-id'] === requestId) return entry.seq
      }
      return null
    },
  }
}

/** Written out, so that the page does not contain the schemas of the contract. */
const PATHS: { readonly [Id in EndpointId]: (typeof ENDPOINTS)[Id]['path'] } = {
  transcript: '/api/v2/handover/transcript',
  summarize: '/api/v2/handover/summarize',
  availability: '/api/v2/handover/availability',
  start: '/api/v2/handover/start',
  end: '/api/v2/handover/end',
  message: '/api/v2/handover/message/',
  typing_start: '/api/v2/handover/typing_start',
  typing_stop: '/api/v2/handover/typing_stop',
  chat: '/api/v1/chats/{chatId}',
}

function buildCall(origin: URL, endpoint: EndpointId, bot_id: number, chat_id: string, body: object): CodeCall {
  const url = new URL(PATHS[endpoint].replace('{chatId}', encodeURIComponent(chat_id)).slice(1), origin).href
  if (endpoint === 'chat') return { method: 'GET', url, body: undefined, endpoint, botId: bot_id }
  const fields = endpoint === 'availability' ? body : { bot_id, chat_id, ...body }
  return { method: 'POST', url, body: fields, endpoint, botId: bot_id }
}

/** What `sender` has in a call. A start may also name the agent's languages. */
export function buildSender({ name, avatar, languages }: AgentProfile, withLanguages = false): object {
  const codes = languages.split(',').flatMap(code => code.trim() || [])
  return {
    ...(name === '' ? {} : { name }),
    ...(avatar === '' ? {} : { avatar }),
    ...(withLanguages && codes.length > 0 ? { language_codes: codes } : {}),
  }
}

const PROFILE = 'handover-sim agent'

const FIRST_PROFILE: AgentProfile = {
  name: 'Anna',
  avatar: 'https://desk.example.test/anna.png',
  languages: '',
  supportsAttachment: true,
  showsTyping: true,
}

/** A stored value of another form gives way to the first profile. */
function readProfile(): AgentProfile {
  const value = jsonOr(readStored(PROFILE) ?? '', {})
  const stored = isMap(value) ? value : {}
  const isSameForm = Object.entries(FIRST_PROFILE).every(([name, first]) => typeof stored[name] === typeof first)
  return isSameForm ? { ...FIRST_PROFILE, ...stored } : FIRST_PROFILE
}

/** Browsers may refuse storage. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // The value lasts as long as the page.
  }
}

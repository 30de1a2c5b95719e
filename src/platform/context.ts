/** What every rule of the platform may use: its memory, the knobs in force, ids, the time and the addresses. */
import type { Knobs } from '../contract/knobs.ts'
import type { Button } from '../contract/schemas.ts'
import type { IdForm } from '../runtime/ids.ts'
import type { Words } from '../runtime/random.ts'
import type { BusinessHours } from './hours.ts'
import type { PlatformState } from './state.ts'

/** The bot's answer to user messages that contain `match` (a word or sentence, without regard to case). */
export interface BotReply {
  readonly match: string
  readonly text: string
  readonly buttons?: readonly Button[]
}

/** Set in the workspace, not by the API. */
export interface Settings {
  readonly replies: readonly BotReply[]
  readonly businessHours: BusinessHours | null
}

export interface PlatformContext {
  readonly state: PlatformState
  readonly knobs: Knobs
  readonly settings: Settings
  nowMs(): number
  /** A fresh timestamp in microseconds. */
  stamp(): number
  id(form: IdForm, label: string): string
  /** What the ids below `label` are drawn from. */
  words(label: string): Words
  readonly links: {
    chat(chatId: string): string
    file(fileId: string, name: string): string
    /** The id in the path of a link; null when it is none of ours. */
    fileId(segment: string): string | null
  }
}

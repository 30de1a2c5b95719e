/** Defines what every rule of the platform has access to: state, effective knobs, ids, time and links. */
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

/** Settings of the workspace, which the API cannot change. */
export interface Settings {
  readonly replies: readonly BotReply[]
  readonly businessHours: BusinessHours | null
}

/** The context of all functions of the platform, which they receive as `platform`. */
export interface PlatformContext {
  readonly state: PlatformState
  readonly knobs: Knobs
  readonly settings: Settings
  /** The simulator's clock, in milliseconds since 1970. */
  nowMs(): number
  /** A fresh timestamp in microseconds. */
  stamp(): number
  id(form: IdForm, label: string): string
  /** The random words that the ids below `label` are derived from. */
  words(label: string): Words
  readonly links: {
    chat(chatId: string): string
    file(fileId: string, name: string): string
    /** The id in the path of a link; null when the link is not one of the simulator. */
    fileId(segment: string): string | null
  }
}

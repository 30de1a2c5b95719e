/**
 * Reads the buttons of messages, and writes those of the bot. The platform's description shows no field of a button (R-BTN).
 * `buttons.form` says which fields count: `typed` are those of the platform's own clients, `own` those of the simulator.
 */
import type { Knobs } from './knobs.ts'
import type { Button } from './schemas.ts'

export type ButtonForm = Knobs['buttons.form']

/** What a press does: ask for an agent, open `value`, or write it as the user. */
export type ButtonKind = 'handover' | 'link' | 'phone' | 'email' | 'quick_reply'

export interface ReadButton {
  readonly kind: ButtonKind
  /** Empty when there is none. */
  readonly label: string
  /** The address that opens, or the text that the user writes; empty when there is none. */
  readonly value: string
  readonly isActive: boolean
  /** Whether the button says that it is not shown while handover is closed. */
  readonly hidesWhileClosed: boolean
}

/** The types that the platform's own clients know, in small letters. */
const KINDS: Readonly<Record<string, ButtonKind>> = {
  link: 'link',
  external_link: 'link',
  phone: 'phone',
  email: 'email',
  quick_reply: 'quick_reply',
}
const TYPES = 'link, EXTERNAL_LINK, quick_reply, phone or email'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The older of the platform's own clients has `type`. */
const typeOf = (button: Button): unknown => button.button_type ?? button.type

/** Reads a button. A typed one without a type, and of an unknown type, is read by label, url and handover. */
export function readButton(button: Button, form: ButtonForm): ReadButton {
  const label = textOf(button.label)
  const url = textOf(button.url)
  const isTyped = form === 'typed'
  const rest = {
    label,
    isActive: !isTyped || button.is_active !== false,
    hidesWhileClosed: isTyped && button.hide_outside_business_hours === true,
  }
  if (button.handover === true) return { kind: 'handover', value: label, ...rest }
  const kind = isTyped ? KINDS[textOf(typeOf(button)).toLowerCase()] : undefined
  const value = isTyped ? textOf(button.value) : ''
  if (kind === undefined && url !== '') return { kind: 'link', value: url, ...rest }
  if (kind === undefined || kind === 'quick_reply') return { kind: 'quick_reply', value: value || label, ...rest }
  return { kind, value: addressOf(kind, value || url), ...rest }
}

/** The address that a press opens: `tel:` and `mailto:` before a number and a name that have neither. */
function addressOf(kind: ButtonKind, value: string): string {
  const scheme = kind === 'phone' ? 'tel:' : kind === 'email' ? 'mailto:' : ''
  return value === '' || value.toLowerCase().startsWith(scheme) ? value : `${scheme}${value}`
}

/** Sorts buttons by `index`; one without it keeps its place. */
export function inOrder(buttons: readonly Button[], form: ButtonForm): readonly Button[] {
  if (form === 'own' || buttons.every(({ index }) => index === undefined)) return buttons
  const places = new Map(buttons.map((button, place) => [button, Number.isFinite(button.index) ? button.index : place]))
  return buttons.toSorted((a, b) => Number(places.get(a)) - Number(places.get(b)))
}

/** The button of a bot as a transcript has it: with all fields of the platform's own clients, or as it was configured. */
export function writeButton(button: Button, form: ButtonForm, index: number, language: string): Button {
  if (form === 'own') return button
  const { handover: _, url, type, ...fields } = button
  const { kind, label, value } = readButton(button, form)
  return {
    button_type: type ?? (kind === 'handover' ? 'quick_reply' : kind),
    label,
    value: value || textOf(url),
    index,
    is_active: true,
    hide_outside_business_hours: false,
    language_code: language,
    ...fields,
  }
}

/** What no known client of the platform shows in a button: the field, and what it must be. Null for a button as they show it. */
export function findUnknownForm(button: Button, form: ButtonForm): { field: string; expected: string } | null {
  if (textOf(button.label).trim() === '') return { field: 'label', expected: 'a text' }
  if (form === 'own') return null
  const typeField = button.button_type === undefined && button.type !== undefined ? 'type' : 'button_type'
  if (!Object.hasOwn(KINDS, textOf(typeOf(button)).toLowerCase())) return { field: typeField, expected: TYPES }
  if (textOf(button.value) === '') return { field: 'value', expected: 'a text that is not empty' }
  for (const [field, type, expected] of OPTIONAL_FIELDS) {
    const value = button[field] ?? undefined
    if (value !== undefined && typeof value !== type) return { field, expected }
  }
  return null
}

const OPTIONAL_FIELDS = [
  ['index', 'number', 'a number'],
  ['is_active', 'boolean', 'true or false'],
  ['hide_outside_business_hours', 'boolean', 'true or false'],
  ['language_code', 'string', 'a text'],
] as const

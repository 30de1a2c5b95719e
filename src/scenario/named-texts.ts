/** Texts that go wrong in real systems, by name: what `$(texts.NAME)` reads. */
import file from '../../fixtures/texts.json' with { type: 'json' }

export interface NamedText {
  /** What it is good for. */
  readonly about: string
  readonly text: string
}

const TEXTS = file.texts as Readonly<Record<string, NamedText>>

export const TEXT_NAMES: readonly string[] = Object.keys(TEXTS)
export const namedTexts = (names: Iterable<string>): Record<string, string> =>
  Object.fromEntries([...names].flatMap(name => (Object.hasOwn(TEXTS, name) ? [[name, TEXTS[name]!.text]] : [])))

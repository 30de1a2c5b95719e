/** Shows code to copy in one of several languages. The choice is kept. */
import './entries.css'
import { type Signal, signal } from '@preact/signals'
import { type CodeRequest, LANGUAGES, snippet } from '../model/snippets.ts'
import { CopyButton } from './copy-button.tsx'

export interface CodeChoiceProps {
  /** The code by the name of its language. */
  readonly code: Readonly<Record<string, string>>
  readonly chosen: Signal<string>
  /** What is copied: `the request`. */
  readonly what: string
  onChoose?(language: string): void
}

export function CodeChoice({ code, chosen, what, onChoose }: CodeChoiceProps) {
  const languages = Object.keys(code)
  const shown = languages.includes(chosen.value) ? chosen.value : (languages[0] ?? '')
  const text = code[shown] ?? ''
  return (
    <div class="call-code">
      <div class="call-code-head">
        <fieldset class="call-code-languages" aria-label="Language of the code">
          {languages.map(language => (
            <button
              key={language}
              type="button"
              class="quiet"
              aria-pressed={shown === language}
              onClick={() => {
                chosen.value = language
                onChoose?.(language)
              }}
            >
              {language}
            </button>
          ))}
        </fieldset>
        <CopyButton text={text} what={`${what} as ${shown}`} />
      </div>
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}

/** One choice for all requests of the page. */
const chosen = signal('curl')

export function CallCode({ request }: { readonly request: CodeRequest }) {
  const code = Object.fromEntries(LANGUAGES.map(language => [language, snippet(language, request)]))
  return <CodeChoice code={code} chosen={chosen} what="the request" />
}

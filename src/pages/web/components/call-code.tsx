/** Shows a request as code to copy, in one of the languages. The choice is kept. */
import './entries.css'
import { signal } from '@preact/signals'
import { type CodeRequest, LANGUAGES, type SnippetLanguage, snippet } from '../model/snippets.ts'
import { CopyButton } from './copy-button.tsx'

/** One choice for all requests of the page. */
const chosen = signal<SnippetLanguage>('curl')

export function CallCode({ request }: { readonly request: CodeRequest }) {
  const text = snippet(chosen.value, request)
  return (
    <div class="call-code">
      <div class="call-code-head">
        <fieldset class="call-code-languages" aria-label="Language of the code">
          {LANGUAGES.map(language => (
            <button
              key={language}
              type="button"
              class="quiet"
              aria-pressed={chosen.value === language}
              onClick={() => (chosen.value = language)}
            >
              {language}
            </button>
          ))}
        </fieldset>
        <CopyButton text={text} what={`the request as ${chosen.value}`} />
      </div>
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}

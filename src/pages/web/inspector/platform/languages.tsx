/** Shows what the bot says in each language, and sets the notices and the translation. */
import { useId } from 'preact/hooks'
import { createDraftHook } from '../drafts.ts'
import { KnobGroups } from './knobs.tsx'
import { PlatformSection, type SectionProps } from './platform-section.tsx'

/** What each text is for. */
const USES: Readonly<Record<string, string>> = {
  greeting: 'Greeting',
  welcome: 'Answer to thanks',
  unsure: 'Not understood',
  button: 'Handover button',
  open: 'Handover is open',
  closed: 'Handover is closed',
  entering: 'Agent enters',
  left: 'Agent leaves',
  agent: 'Agent without a name',
}

const BY_LANGUAGE = 'by-language'

export function LanguagesSection({ store, moment }: SectionProps) {
  const { languages } = moment.description
  return (
    <PlatformSection store={store} name="languages" title="Languages" summary={`${languages.length} languages`}>
      <LanguageTexts store={store} moment={moment} />
      <h4>Notices in every language</h4>
      <Knobs store={store} moment={moment} group="messages." />
      <h4>Translation</h4>
      <Knobs store={store} moment={moment} group="translation." />
    </PlatformSection>
  )
}

const useChosenLanguage = createDraftHook('en')

function LanguageTexts({ store, moment: { description, config } }: SectionProps) {
  const [code, setCode] = useChosenLanguage(store.session)
  const id = useId()
  const texts = description.languages.find(language => language.code === code)?.texts ?? {}
  return (
    <>
      <div class="platform-field">
        <label for={id}>What the bot says by itself</label>
        <select id={id} value={code} onChange={({ currentTarget }) => setCode(currentTarget.value)}>
          {description.languages.map(language => (
            <option key={language.code} value={language.code}>
              {`${new Intl.DisplayNames(['en'], { type: 'language' }).of(language.code) ?? language.code} (${language.code})`}
            </option>
          ))}
        </select>
      </div>
      <dl class="platform-facts language-texts">
        {Object.entries(texts).map(([name, text]) => (
          <div key={name}>
            <dt>{USES[name] ?? name}</dt>
            <dd lang={code} dir="auto">
              {ownText(config[`messages.${name}`]) ?? text}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** The value of a knob replaces the text of every language. */
const ownText = (value: unknown) => (typeof value === 'string' && value !== BY_LANGUAGE ? value : null)

function Knobs({ store, moment, group }: SectionProps & { readonly group: string }) {
  const knobs = moment.description.knobs.filter(({ name }) => name.startsWith(group))
  return <KnobGroups store={store} moment={moment} knobs={knobs} isCopy />
}

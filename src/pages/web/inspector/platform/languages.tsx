/** Shows what the bot says in each language, and sets the notices and the translation. */

import { ChoiceField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { KnobGroups } from './knobs.tsx'
import { PlatformSection, usePlatform } from './platform-section.tsx'

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

export function LanguagesSection() {
  const moment = usePlatform()
  const { languages } = moment.description
  return (
    <PlatformSection name="languages" title="Languages" summary={`${languages.length} languages`}>
      <LanguageTexts />
      <h4>Notices in every language</h4>
      <Knobs group="messages." />
      <h4>Translation</h4>
      <Knobs group="translation." />
    </PlatformSection>
  )
}

function LanguageTexts() {
  const { description, config } = usePlatform()
  const [code, setCode] = useDraft('language', 'en')
  const texts = description.languages.find(language => language.code === code)?.texts ?? {}
  return (
    <>
      <ChoiceField
        label="What the bot says by itself"
        value={code}
        options={description.languages.map(languageOption)}
        onChange={setCode}
      />
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

function languageOption({ code }: { readonly code: string }): readonly [string, string] {
  return [code, `${new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code} (${code})`]
}

/** The value of a knob replaces the text of every language. */
const ownText = (value: unknown) => (typeof value === 'string' && value !== BY_LANGUAGE ? value : null)

function Knobs({ group }: { readonly group: string }) {
  const moment = usePlatform()
  const knobs = moment.description.knobs.filter(({ name }) => name.startsWith(group))
  return <KnobGroups knobs={knobs} isCopy />
}

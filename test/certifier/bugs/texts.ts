/** The bugs that the checks of `texts` find. */
import type { FoundBug } from '../mutants.ts'

export const TEXTS_BUGS: readonly FoundBug[] = [
  {
    bug: 'trims',
    check: 'TXT-01',
    outcome: 'fail',
    code: 'text-changed',
    says: /^The agent got a text with spaces at its ends changed, at character 1: sent U\+0020 U\+0020 U\+0073 .* \(only white space differs: trimmed\)\.$/,
  },
  {
    bug: 'normalises-texts',
    check: 'TXT-01',
    outcome: 'fail',
    code: 'text-changed',
    says: /^The agent got combining marks changed, at character 9: sent U\+0065 U\+0301 .*, received U\+00E9 .* \(the text was normalised to NFC\)\.$/,
  },
  {
    bug: 'joins-lines',
    check: 'TXT-01',
    outcome: 'fail',
    code: 'text-changed',
    says: /^The agent got a text of several lines changed, at character 8: sent U\+000A .*, received U\+0020 .* \(line breaks were changed\)\.$/,
  },
  {
    bug: 'reads-latin1',
    check: 'TXT-01',
    outcome: 'fail',
    code: 'text-changed',
    says: /^The agent got an Arabic text changed, .* \(UTF-8 read as Latin-1\)\.$/,
    // The form `ascii` of the JSON hides this bug.
  },
  {
    bug: 'cuts-emoji',
    check: 'TXT-01',
    outcome: 'fail',
    code: 'text-changed',
    says: /^The user got an emoji with joiners changed, at character 9: sent U\+1F469 .*, received U\+003F .* \(characters above U\+FFFF, such as emoji, were cut or replaced\)\.$/,
  },
  {
    bug: 'escapes-html',
    check: 'TXT-02',
    outcome: 'warn',
    code: 'text-changed',
    says: /^The user got a text with HTML changed, at character 8: sent U\+003C .* \(only HTML escaping differs\)\.$/,
  },
  {
    bug: 'cuts-long-texts',
    check: 'TXT-03',
    outcome: 'warn',
    code: 'text-changed',
    says: /^The user got a message of 64 KB changed, .* \(cut off after 10000 of 64000 characters\)\.$/,
  },
]

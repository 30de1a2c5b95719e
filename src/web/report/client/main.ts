/** Brings the page of a report to life. All that can be read without it is there already. */
import { startCopying } from './copying.ts'
import { openPlay, startDiagrams } from './diagrams.ts'
import { startFilter } from './filter.ts'
import { startKeys } from './keys.ts'
import { followHash, startLinks } from './links.ts'
import { startPanel } from './panel.ts'

startDiagrams()
startPanel()
startFilter()
startKeys()
startLinks()
startCopying()
addEventListener('beforeprint', () => {
  for (const play of document.querySelectorAll<HTMLDetailsElement>('.play.fail, .play.error')) openPlay(play)
})
followHash()

import { isMap } from '../../base/objects.ts'
import { cut } from '../../base/text/cut.ts'
import { isPrivate } from '../../base/text/hosts.ts'
import { callText, type Rule } from './rule.ts'

/** Reports pictures that the browser of a user cannot load (R-SENDER.1, R-SENDER.4). */
export const avatarAddress: Rule = {
  id: 'avatar-address',
  level: 'SHOULD',
  *judgeChat({ calls }) {
    for (const { call } of calls) {
      const { body } = call.request
      const avatar = isMap(body) && isMap(body.sender) ? body.sender.avatar : null
      const why = typeof avatar === 'string' && avatar !== '' ? whyUnreachable(avatar) : null
      if (why === null) continue
      const shown = cut(String(avatar), MAX_CHARS)
      yield {
        happened: `${callText(call)} has the picture ${JSON.stringify(shown)} in sender.avatar: ${why}, so the user sees no picture.`,
        hint: 'Send the whole address of an image that everybody can load, such as https://desk.example.com/anna.png.',
        details: { avatar: shown },
        entries: [call],
      }
    }
  },
}

const MAX_CHARS = 100

function whyUnreachable(avatar: string): string | null {
  if (!URL.canParse(avatar)) return 'no whole address, which a browser reads as a path of the page with the chat'
  const { protocol, hostname } = new URL(avatar)
  if (protocol === 'data:') return null
  if (protocol !== 'https:' && protocol !== 'http:') return `an address of ${protocol} and not of the web`
  return isPrivate(hostname) ? `the host ${hostname} is known only to your machine or network` : null
}

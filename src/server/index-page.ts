/** The front page: what listens here and where things are. Never the platform's error shape. */
import { VERSION } from '../contract/version.ts'
import type { Listener } from './http.ts'

const text = (url: string) => `handover-sim ${VERSION}: a chatbot platform's handover API and its end user, simulated.

platform API    ${url}/api/v2/handover/...  ${url}/api/v1/chats/{chatId}
                described at ${url}/_sim/platform-openapi.json
control API     ${url}/_sim
                described at ${url}/_sim/openapi.json
`

/** Browsers ask for an icon by themselves; that must not look like a wrong call of the platform. */
export function createHome(url: () => string): Listener {
  return (request, response) => {
    request.resume()
    if (request.url === '/favicon.ico') return void response.writeHead(204).end()
    const reading = request.method === 'GET' || request.method === 'HEAD'
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...(reading ? {} : { allow: 'GET, HEAD' }) }
    response.writeHead(reading ? 200 : 405, headers)
    response.end(request.method === 'HEAD' ? '' : text(url()))
  }
}

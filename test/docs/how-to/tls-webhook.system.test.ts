/** Runs the commands of docs/how-to/tls-webhook.md, and produces each error that the page shows with a real certificate. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../../src/commands/main.ts'
import { TLS_HINTS } from '../../../src/platform/wording/failures.ts'
import { type FakeOutput, fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, hasShell, read, rows, run, section } from '../pages.ts'
import { createProject } from '../project.ts'

const PAGE = read('docs/how-to/tls-webhook.md')
const [make = '', trust = ''] = blocks(PAGE, 'sh')
const [selfSigned = '', unknownCa = '', otherHost = '', expired = '', noTls = ''] = rows(
  section(PAGE, 'When the certificate is refused'),
)
  .slice(1)
  .map(([cell = '']) => cell.replaceAll('`', ''))

const pem = (name: string) => read(`test/docs/how-to/certificates/${name}.pem`)
const acknowledge: RequestListener = (request, response) => void request.resume().on('end', () => response.end())

async function portOf(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const webhookWith = (certificate: string) =>
  portOf(createServer({ key: pem('key'), cert: pem(certificate) }, acknowledge))

interface Started {
  readonly url: string
  readonly log: FakeOutput
}

/** Types a command of the page, in a folder with these certificates as `webhook-cert.pem`. */
async function start(typed: string, certificates: readonly string[]): Promise<Started> {
  const project = createProject({ 'webhook-cert.pem': certificates.map(pem).join('') })
  const { stdout, stderr } = project.start(typed, { HANDOVER_SIM_PORT: '0' })
  const [, url = ''] = /Ready: (.*)\n/.exec(await stdout.until(/\n/)) ?? []
  await control(url, 'POST', '/chats', {})
  return { url, log: stderr }
}

const control = async (url: string, method: string, path: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/_sim${path}`, { method, headers, body: JSON.stringify(body) })
  return response.json()
}

/** Removes line breaks, and the advice that newer versions of Node append. */
const asShown = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace('; if the root CA is installed locally, try running Node.js with --use-system-ca', '')

/** Why an event does not reach this address, with the port of the page; null when it does. */
async function refusal({ url }: Started, webhookUrl: string): Promise<string | null> {
  await control(url, 'PATCH', '/config', { 'webhook.url': webhookUrl })
  const { ack } = await control(url, 'POST', '/trigger', { event: 'REQUESTING TAKEOVER' })
  return ack.error === undefined ? null : asShown(ack.error).replace(new URL(webhookUrl).port, '3443')
}

const hasOpenssl = (await run('openssl', ['version'])).code === 0

it.skipIf(!hasShell || !hasOpenssl)('makes a certificate for this machine (needs openssl)', async () => {
  const { folder, type } = createProject()
  expect(await type(make)).toMatchObject({ code: 0 })
  const certificate = new X509Certificate(readFileSync(join(folder, 'webhook-cert.pem')))
  expect(certificate.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1')
})

describe.skipIf(!hasShell)('the simulator (needs bash)', () => {
  it('delivers to a certificate that is trusted, and names what is wrong with another one', async () => {
    const started = await start(trust, ['self-signed', 'expired', 'ca'])
    const port = await webhookWith('self-signed')
    expect(await refusal(started, `https://127.0.0.1:${port}/webhook`)).toBeNull()
    expect(await refusal(started, `https://127.0.0.1:${await webhookWith('signed-by-ca')}/webhook`)).toBeNull()
    expect(await refusal(started, `https://127.0.0.2:${port}/webhook`)).toBe(otherHost)
    expect(await refusal(started, `https://127.0.0.1:${await webhookWith('expired')}/webhook`)).toBe(expired)
    const inLog = asShown(await started.log.until(/correct\s+the\s+clock/))
    expect(inLog).toContain(TLS_HINTS.certificate_name)
    expect(inLog).toContain(TLS_HINTS.certificate_date)
  })

  it('refuses certificates that are not known, and says when the file of certificates is not there', async () => {
    const started = await start(trust.replace('webhook-cert.pem', 'no-such-file.pem'), [])
    const refused = async (certificate: string) =>
      refusal(started, `https://127.0.0.1:${await webhookWith(certificate)}/webhook`)
    expect(await refused('self-signed')).toBe(selfSigned)
    expect(await refused('signed-by-ca')).toBe(unknownCa)
    expect(await refusal(started, `https://127.0.0.1:${await portOf(createHttpServer(acknowledge))}/`)).toBe(noTls)
    expect(asShown(await started.log.until(/ca\.pem/))).toContain(TLS_HINTS.certificate_untrusted)
    expect(PAGE).toContain('Warning: Ignoring extra certs from `webhook-cert.pem`')
    expect(started.log.text).toContain('Warning: Ignoring extra certs from `no-such-file.pem`')
  })
})

it('a run says in its report what to do', async () => {
  const target = `https://127.0.0.1:${await webhookWith('self-signed')}/webhook`
  const io = fakeIo(folderWith())
  const code = await main(['run', 'builtin:happy-path.yaml', '--port', '0', '--target', target], {}, io)
  const report = asShown(io.stdout.text)
  expect(code).toBe(1)
  expect(report).toContain(selfSigned)
  expect(report).toContain(`hint ${TLS_HINTS.certificate_untrusted}`)
})

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
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { blocks, hasShell, read, rows, run, section } from '../pages.ts'
import { createProject } from '../project.ts'

const PAGE = read('docs/how-to/tls-webhook.md')
const [make = '', trust = ''] = blocks(PAGE, 'sh')
const refusals = rows(section(PAGE, 'When the certificate is refused')).map(([cell = '']) => cell.replaceAll('`', ''))
const [, selfSigned = '', unknownCa = '', otherHost = '', expired = '', noTls = ''] = refusals

const pem = (name: string) => read(`test/docs/how-to/certificates/${name}.pem`)
const acknowledge: RequestListener = (request, response) => void request.resume().on('end', () => response.end())

async function portOf(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const urlWith = async (certificate: string) =>
  `https://127.0.0.1:${await portOf(createServer({ key: pem('key'), cert: pem(certificate) }, acknowledge))}/webhook`

/** Types a command of the page, in a folder with these certificates as `webhook-cert.pem`. */
async function start(typed: string, certificates: readonly string[]) {
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
const asShown = (text: string) => text.replace(/\s+/g, ' ').replace(/; if the root CA is installed locally, .*?-ca/, '')

/** Why an event does not reach this address, with the port of the page; null when it does. */
async function refusal({ url }: { readonly url: string }, webhookUrl: string): Promise<string | null> {
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
    const url = await urlWith('self-signed')
    expect(await refusal(started, url)).toBeNull()
    expect(await refusal(started, await urlWith('signed-by-ca'))).toBeNull()
    expect(await refusal(started, url.replace('127.0.0.1', '127.0.0.2'))).toBe(otherHost)
    expect(await refusal(started, await urlWith('expired'))).toBe(expired)
    const inLog = asShown(await started.log.until(/correct\s+the\s+clock/))
    for (const hint of [TLS_HINTS.certificate_name, TLS_HINTS.certificate_date]) expect(inLog).toContain(hint)
  })

  it('refuses certificates that are not known, and says when the file of certificates is not there', async () => {
    const started = await start(trust.replace('webhook-cert.pem', 'no-such-file.pem'), [])
    expect(await refusal(started, await urlWith('self-signed'))).toBe(selfSigned)
    expect(await refusal(started, await urlWith('signed-by-ca'))).toBe(unknownCa)
    expect(await refusal(started, `https://127.0.0.1:${await portOf(createHttpServer(acknowledge))}/`)).toBe(noTls)
    expect(asShown(await started.log.until(/ca\.pem/))).toContain(TLS_HINTS.certificate_untrusted)
    expect(started.log.text).toContain('Warning: Ignoring extra certs from `no-such-file.pem`')
  })
})

it('a run says in its report what to do', async () => {
  const argv = ['run', 'builtin:happy-path.yaml', '--port', '0', '--target', await urlWith('self-signed')]
  const io = fakeIo(folderWith())
  expect(await main(argv, {}, io)).toBe(1)
  const report = asShown(io.stdout.text)
  expect(report).toContain(selfSigned)
  expect(report).toContain(`hint ${TLS_HINTS.certificate_untrusted}`)
})

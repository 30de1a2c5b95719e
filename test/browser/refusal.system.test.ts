import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type Got, receiver } from '../webhooks/receiver.ts'
import { axeViolations, chromium, open, sees, startInspected } from './inspector-page.ts'

const hexOf = ({ bytes }: Got) => createHmac('sha256', 'sim-handover-key').update(bytes).digest('hex')

/** A service that compares a hexadecimal digest, and an event that it refused. */
async function refuseEvent() {
  const hook = await receiver((got, response) => {
    const isRight = got.headers['kindly-hmac'] === hexOf(got)
    response.writeHead(isRight ? 200 : 401).end(isRight ? '' : 'bad_signature: the signature is wrong')
  })
  const server = await startInspected({ webhook: { url: hook.url } })
  await (await server.chat()).press('handover')
  await server.settled()
  const refused = server.journal.query({ kind: 'delivery' }).at(-1)!
  const { page } = await open(`${server.url}/?entry=${refused.seq}`)
  return { hook, server, refused, page, details: page.getByRole('region', { name: `Entry ${refused.seq}` }) }
}

describe.skipIf(chromium === null)('a refused event', () => {
  it('quotes the answer, finds the mistake by trying it, and shows the event that was accepted', async () => {
    const { page, details, server } = await refuseEvent()
    const box = details.getByRole('note', { name: 'Why it failed' })
    await box.getByText('bad_signature: the signature is wrong').waitFor()
    await box.getByText(/It accepted no event so far/).waitFor()
    await box.getByRole('button', { name: 'Find out why' }).click()
    await box.getByText(/hexadecimal.*#\d+ shows it/).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await box.getByText(/events? sent to find out$/).click()
    await box.getByText('Accepted.').waitFor()
    const shown = await box.getByRole('button', { name: /^Show #\d+$/ }).textContent()
    await box.getByRole('button', { name: /^Show #\d+$/ }).click()
    await page.getByRole('region', { name: `Entry ${shown?.slice('Show #'.length)}` }).waitFor()
    const probes = server.journal.query({ kind: 'delivery' }).filter(entry => entry.kind === 'delivery' && entry.probe)
    expect(probes.length).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Only problems' }).click()
    await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(1)
  })

  it('shows its signature, and names the difference to the one that the service computed', async () => {
    const { hook, details, refused, server } = await refuseEvent()
    const sent = hook.got.at(-1)!
    await details.getByText(sent.headers['kindly-hmac'] as string).waitFor()
    await details.getByLabel('Paste what your code computed').fill(hexOf(sent))
    await details.getByRole('button', { name: 'Explain the difference' }).click()
    await sees(details, /hexadecimal/)
    expect(server.journal.query().at(-1)!.seq).toBe(refused.seq)
  })

  it('is copied as a curl that sends the same bytes with the same signature', async () => {
    const { hook, details } = await refuseEvent()
    const sent = hook.got.at(-1)!
    await details.getByText('Copy as curl, fetch or test').click()
    const code = await details.locator('.call-code pre').textContent()
    await promisify(execFile)('sh', ['-c', code ?? ''])
    const again = hook.got.at(-1)!
    expect(hook.got).toHaveLength(2)
    expect([again.bytes, again.headers['kindly-hmac']]).toEqual([sent.bytes, sent.headers['kindly-hmac']])
    await details.getByRole('button', { name: 'test', exact: true }).click()
    expect(await details.locator('.call-code pre').textContent()).toContain('expect(response.status).toBe(200)')
  })
})

/** The page of a simulator that asks for a token: by its address, by the form, and behind a proxy with a prefix. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { axeViolations, chromium, open, startInspected } from './inspector-page.ts'

const LIVE = { name: 'New chat' }

describe.skipIf(chromium === null)('the token', () => {
  it('leaves the address after the first load, lasts for the tab, and is nowhere in the page', async () => {
    const { inspectorUrl, url } = await startInspected({ host: '0.0.0.0', controlToken: 'my-secret-token' })
    const { page } = await open(String(inspectorUrl))
    await page.getByRole('button', LIVE).first().click()
    await expect.poll(() => page.url()).not.toContain('my-secret-token')
    expect(page.url().startsWith(`${url}/`)).toBe(true)
    await page.reload()
    await page.getByRole('button', LIVE).first().waitFor()
    expect(await page.content()).not.toContain('my-secret-token')
  })

  it('is asked for by a form, which says when it is wrong and loads nothing by itself', async () => {
    const { url } = await startInspected({ controlToken: 'my-secret-token' })
    const { page } = await open(url)
    await page.getByText('its page needs the token').waitFor()
    expect(await axeViolations(page)).toEqual([])
    let loads = 0
    page.on('load', () => loads++)
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('This token is wrong.').waitFor()
    expect(loads).toBe(1)
    await page.getByLabel('Token').fill('my-secret-token')
    await page.getByRole('button', { name: 'Open the page' }).click()
    await page.getByRole('button', LIVE).first().waitFor()
    expect(page.url()).not.toContain('my-secret-token')
  })

  it('lets the page work behind a proxy with a prefix', async () => {
    const forwarder = await startForwarder()
    const base = `http://sim.localhost:${forwarder.port}/sim`
    const server = await startInspected({ baseUrl: base, controlToken: 'mine' })
    forwarder.target = server.port
    const { page } = await open(`${base}#token=mine`)
    await page.getByRole('button', LIVE).first().click()
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    await page.getByRole('button', { name: 'Accept', exact: true }).click()
    await page.getByText('The agent has the chat.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sim/')
  })

  it('and the address are named by a page that a forwarded port shows without them', async () => {
    const forwarder = await startForwarder('localhost')
    forwarder.target = (await startInspected()).port
    const address = `http://work.localhost:${forwarder.port}`
    const { page } = await open(address)
    await page.getByRole('button', LIVE).first().click()
    await page.getByText(`start with --base-url ${address} --token TOKEN`).first().waitFor()
  })
})

/** Starts a proxy as cloud workspaces have one: some write the name of this machine into the header `Host`. */
async function startForwarder(host?: string) {
  const forwarder = { port: 0, target: 0 }
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming
    const headers = { ...incoming.headers, ...(host !== undefined && { host }) }
    const forwarded = request({ host: '127.0.0.1', port: forwarder.target, method, path, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => proxy.closeAllConnections())
  onTestFinished(() => void proxy.close())
  forwarder.port = (proxy.address() as AddressInfo).port
  return forwarder
}

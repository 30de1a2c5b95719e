/** Uses the inspector without a mouse: a whole handover, where the focus is, and the keys. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import { axeViolations, chromium, messagesOf, open, press, startInspected } from './inspector-page.ts'

/** The element with the focus: its name, and how visible the focus is. Runs inside the page. */
function focused() {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: 'nothing', outlinePx: 0 }
  const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : element.textContent
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  return {
    name: (element.getAttribute('aria-label') ?? label ?? '').trim(),
    outlinePx: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
  }
}

const nameOfFocus = async (page: Page) => (await page.evaluate(focused)).name
const hasFocus = (page: Page, name: string | RegExp) => expect.poll(() => nameOfFocus(page)).toMatch(name)

/** Presses Tab until the control has the focus; every control on the way shows it. */
async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press(key)
    const on = await page.evaluate(focused)
    // The end of the page: the browser's own controls.
    if (on.name === 'nothing') continue
    expect(on.outlinePx, `the focus is visible on "${on.name}"`).toBeGreaterThan(0)
    if (on.name === name) return
  }
  throw new Error(`80 times ${key} did not reach "${name}"`)
}

/** Presses a button by keys. */
async function choose(page: Page, name: string, key = 'Tab'): Promise<void> {
  await tabTo(page, name, key)
  await press(page, 'Enter')
}

const dialog = (page: Page) => page.getByRole('dialog')

describe.skipIf(chromium === null)('the keyboard', () => {
  it('plays two handovers by keys alone, which do not act while the user types; the page guides the first one', async () => {
    const { url, journal, chats } = await startInspected()
    const { page } = await open(url)
    const messages = messagesOf(page)
    const guide = page.locator('[aria-current="step"]')
    const play = async (isGuided: boolean, begin: () => Promise<void>) => {
      const guides = (to: string) => isGuided && expect.poll(() => guide.textContent()).toContain(to)
      await guides('Press New chat')
      await begin()
      await hasFocus(page, 'Message of the user')
      await guides('Write a message')
      await page.keyboard.type('na?/[].cftl')
      await press(page, 'Enter')
      await messages.getByText('na?/[].cftl').waitFor()
      expect(await dialog(page).count()).toBe(0)
      await guides('Ask for a person')
      await choose(page, 'Ask for a person')
      await page.getByText('The user asks for a person.').waitFor()
      await guides('Accept the chat')
      expect(await axeViolations(page)).toEqual([])
      await press(page, 'a')
      await page.getByText('Anna has this chat.').waitFor()
      await press(page, 'r')
      await page.keyboard.type('Hi')
      await press(page, 'Enter')
      await messages.getByText('Hi', { exact: true }).waitFor()
      // The first Escape leaves the field, so that the next key is a shortcut again.
      await press(page, 'Escape', 'e')
      await page.getByText('The bot has this chat.').waitFor()
    }
    await play(true, () => choose(page, 'New chat'))
    await page.getByText('That was a whole handover').waitFor()
    await page.reload()
    await page.getByText('No chat asks for a person.').waitFor()
    expect(await page.getByText('Your first handover').count()).toBe(0)
    await play(false, () => press(page, 'n'))
    const calls = journal.query({ kind: 'api' }).flatMap(call => (call.kind === 'api' ? [call] : []))
    const endpoints = calls.map(({ endpoint }) => endpoint).filter(endpoint => !endpoint?.startsWith('typing'))
    expect(endpoints).toEqual(['start', 'message', 'end', 'start', 'message', 'end'])
    expect(calls.filter(({ status }) => status !== 200)).toEqual([])
    expect(chats()).toHaveLength(2)
    // No text of the user became one of the agent.
    const texts = calls.filter(({ endpoint }) => endpoint === 'message').map(({ request }) => request.body)
    expect(texts).toEqual(Array(2).fill(expect.objectContaining({ message: 'Hi' })))
  })

  it('does not act by single keys when that is switched off, also after a reload', async () => {
    const { url, chats } = await startInspected()
    const { page } = await open(url)
    await page.getByText('There is no chat yet.').waitFor()
    const closeDialog = async () => {
      await press(page, 'Escape')
      await dialog(page).waitFor({ state: 'detached' })
    }
    const setSingleKeys = async (isOn: boolean) => {
      await press(page, '?')
      await dialog(page)
        .getByRole('checkbox', { name: /Single keys may also act/ })
        .setChecked(isOn)
      await closeDialog()
    }
    await setSingleKeys(false)
    for (const reload of [false, true]) {
      if (reload) await page.reload()
      await page.getByText('There is no chat yet.').waitFor()
      await press(page, 'n', '?')
      await dialog(page).waitFor()
      expect(chats()).toEqual([])
      await closeDialog()
    }
    await setSingleKeys(true)
    await press(page, 'n')
    await expect.poll(() => chats().length).toBe(1)
    await hasFocus(page, 'Message of the user')
  })

  it('opens a dialog again with a key that comes as soon as it has closed', async () => {
    const { page } = await open((await startInspected()).url)
    await page.getByText('There is no chat yet.').waitFor()
    await press(page, '?')
    await dialog(page).waitFor()
    await page.evaluate(
      () =>
        new Promise<void>(pressed => {
          new MutationObserver((_, observer) => {
            if (document.querySelector('dialog[open]') !== null) return
            observer.disconnect()
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))
            // The event `close` of the first dialog comes in a later task.
            setTimeout(pressed)
          }).observe(document, { subtree: true, childList: true, attributes: true })
          document.querySelector('dialog')?.requestClose()
        }),
    )
    await dialog(page).waitFor()
  })

  it('keeps the focus when a dialog, the details, a notice or a row disappears', async () => {
    const server = await startInspected()
    const { page } = await open(server.url)
    await page.getByText('There is no chat yet.').waitFor()
    await choose(page, 'Set up a chat')
    await dialog(page).waitFor()
    await tabTo(page, 'Cancel')
    await press(page, 'Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await hasFocus(page, 'Set up a chat')
    const ask = createControlClient(server)
    for (let chat = 0; chat < 80; chat++) await ask('POST', '/chats')
    await page.goto(`${server.url}/?wire=list&all=1`)
    const rows = page.getByRole('listbox', { name: 'Entries of the journal' })
    await rows.getByRole('option').last().click()
    await press(page, 'Home')
    await hasFocus(page, 'Entries of the journal')
    await press(page, 'Enter')
    await hasFocus(page, 'Entry 1')
    await choose(page, 'Show this moment')
    await page.getByText('You see an earlier moment:').waitFor()
    await choose(page, 'Back to now', 'Shift+Tab')
    await page.getByText('You see an earlier moment:').waitFor({ state: 'detached' })
    await expect.poll(() => nameOfFocus(page)).not.toBe('nothing')
    await rows.focus()
    await press(page, 'c', 'ArrowDown')
    await choose(page, 'Stop comparing')
    await expect.poll(() => nameOfFocus(page)).not.toBe('nothing')
    await press(page, 'Escape')
    await hasFocus(page, 'Entries of the journal')
    await choose(page, 'More', 'Shift+Tab')
    await choose(page, 'Send an event')
    await dialog(page).waitFor()
    await press(page, 'Escape')
    await hasFocus(page, 'More')
  })

  it('acts on no earlier moment, and Escape closes a dialog before the details', async () => {
    const server = await startInspected()
    await server.chat()
    const { page } = await open(`${server.url}/?at=1&entry=1`)
    await page.getByText('You see an earlier moment:').waitFor()
    await press(page, 'a', 'e', '?')
    await dialog(page).waitFor()
    await press(page, 'Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Entry 1', exact: true }).waitFor()
    await press(page, 'Escape')
    await page.getByRole('region', { name: 'Entry 1', exact: true }).waitFor({ state: 'detached' })
    expect(server.journal.query({ kind: 'api' })).toEqual([])
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createScenarioWriter } from '../../src/commands/scenario-folder.ts'
import { loadRecorder } from '../../src/running/recorder/load.ts'
import { folderWith } from '../config/folder.ts'
import { createControlClient } from '../support/control-client.ts'
import { axeViolations, button, callPlatform, chromium, isFocused, open, startInspected } from './inspector-page.ts'

const ALL = 'webhook,availability,faults,clock,knobs,snapshot'
const platform = (url: string, more = '') => `${url}/?side=platform${more}`

describe.skipIf(chromium === null)('the column of the platform', () => {
  it('a link to a knob focuses it; a wrong value says what is allowed, and the default comes back', async () => {
    const server = await startInspected()
    const { page } = await open(platform(server.url, '&knob=webhook.timeout'))
    const knob = page.getByRole('textbox', { name: 'webhook.timeout' })
    await expect.poll(() => knob.evaluate(isFocused)).toBe(true)
    await knob.fill('soon')
    await page.keyboard.press('Enter')
    await page.getByText('webhook.timeout must be a duration').waitFor()
    expect(await knob.inputValue()).toBe('soon')
    await knob.fill('2s')
    await page.keyboard.press('Enter')
    await expect.poll(() => server.config()['webhook.timeout']).toBe('2s')
    const knobs = page.getByRole('region', { name: 'Knobs' })
    await knobs.getByText('1 changed').waitFor()
    await knobs.getByRole('button', { name: 'Reset to 10s' }).click()
    await expect.poll(() => server.config()['webhook.timeout']).toBe('10s')
    await knobs.getByLabel('Search knobs').fill('who may open an attachment link')
    await knobs.getByLabel('attachments.auth').selectOption('on')
    await expect.poll(() => server.config()['attachments.auth']).toBe('on')
    await knobs.getByLabel('Search knobs').fill('transcript.source')
    const first = server.config()['transcript.source']
    await knobs.getByLabel('transcript.source').fill('web=widget, app=mobile')
    await page.keyboard.press('Enter')
    await expect.poll(() => server.config()['transcript.source']).toEqual(['web=widget', 'app=mobile'])
    await knobs.getByRole('button', { name: 'Reset to' }).click()
    await expect.poll(() => server.config()['transcript.source']).toEqual(first)
  })

  it('makes a fault from an example, shows its hit, and clears it', async () => {
    const server = await startInspected()
    const { page } = await open(platform(server.url, '&sections=faults'))
    const faults = page.getByRole('region', { name: 'Faults' })
    await faults.getByRole('button', { name: 'Next message answers 429' }).click()
    await faults.getByText('0 of 1 hit').waitFor()
    await faults.getByRole('button', { name: 'Clear the fault fault-1' }).click()
    await faults.getByRole('button', { name: 'Custom fault' }).click()
    const json = faults.getByLabel('The fault as JSON')
    const fault = JSON.parse(await json.inputValue())
    const setFault = async (more: object) => {
      await json.fill(JSON.stringify({ ...fault, ...more }))
      await button(faults, 'Set the fault').click()
    }
    await setFault({ respond: { status: 99 } })
    await faults.getByText('respond.status must be at least 200').waitFor()
    await setFault({ name: 'busy', respond: { status: 429, headers: { 'Retry-After': '2' } } })
    await faults.getByText('0 of 2 hits').waitFor()
    const answer = await fetch(`${server.baseUrl}/api/v2/handover/start`, { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2'])
    await faults.getByText('1 of 2 hits').waitFor()
    await faults.getByRole('button', { name: /^#\d+$/ }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('entry')).toBe('5')
    await faults.getByRole('button', { name: 'Clear the fault busy' }).click()
    await expect.poll(() => server.faults.list()).toEqual([])
    await faults.getByText('A fault makes calls or events fail').waitFor()
  })

  it('shows changes of others at once, and an earlier moment as it was, without controls', async () => {
    const server = await startInspected()
    const ask = createControlClient(server)
    const { page } = await open(platform(server.url, '&sections=availability,webhook,knobs'))
    const availability = page.getByRole('region', { name: 'Availability' })
    await availability.getByText('since the start').waitFor()
    await ask('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'OTHER' } })
    await availability.getByText('reason OTHER').waitFor()
    await ask('PATCH', '/config', { body: { 'start.again': '409', 'webhook.url': 'http://127.0.0.1:9/later' } })
    await expect.poll(() => page.getByLabel('start.again').inputValue()).toBe('409')

    await page.goto(platform(server.url, '&sections=availability,webhook,knobs&at=1'))
    await page.getByText('and can be changed only now').waitFor()
    await page.getByLabel('Search knobs').fill('start.again')
    expect(await availability.textContent()).toContain('reason OTHER')
    expect(await page.getByLabel('URL that gets the events').inputValue()).toBe('')
    expect(await page.getByLabel('start.again').inputValue()).toBe('accept')
    for (const name of ['Open', 'Close', 'Send a test event'])
      expect(await page.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true)
    expect(await page.getByLabel('start.again').isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await expect.poll(() => page.getByLabel('start.again').inputValue()).toBe('409')
    await availability.getByRole('button', { name: 'Open', exact: true }).click()
    await expect.poll(async () => (await ask('GET', '/state')).body.availability[0].availability).toBe('OPEN')
  })

  it('moves a virtual clock, resets, and restores a downloaded snapshot', async () => {
    const server = await startInspected({ clock: 'virtual', knobs: { 'chat.idleTimeout': '30m' } })
    const ask = createControlClient(server)
    const { page } = await open(platform(server.url, '&sections=clock,snapshot'))
    const clock = page.getByRole('region', { name: 'Clock' })
    await clock.getByText('2024-01-01 09:00:00').waitFor()
    await clock.getByLabel('By').fill('10 minutes')
    await page.keyboard.press('Enter')
    await clock.getByRole('alert').waitFor()
    await clock.getByRole('button', { name: '+ 1m', exact: true }).click()
    await clock.getByText('09:01:00').waitFor()
    await ask('POST', '/chats')
    await clock.getByRole('button', { name: 'To the next timer (+ 30m)' }).click()
    await clock.getByText('09:31:00').waitFor()

    const snapshot = page.getByRole('region', { name: 'Snapshot and reset' })
    const downloads = page.waitForEvent('download')
    await snapshot.getByRole('button', { name: 'Download a snapshot' }).click()
    const file = await (await downloads).path()
    expect(JSON.parse(readFileSync(file, 'utf8')).journal.entries).not.toHaveLength(0)
    await snapshot.getByRole('button', { name: 'Reset', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await expect.poll(async () => (await ask('GET', '/chats')).body.chats).toEqual([])
    await clock.getByText('09:00:00').waitFor()
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no JSON') }
    await snapshot.getByLabel('Restore a snapshot').setInputFiles(notes)
    await snapshot.getByText('notes.txt is not JSON').waitFor()
    await snapshot.getByLabel('Restore a snapshot').setInputFiles(file)
    await page.getByRole('dialog').getByText('with 1 chat').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await expect.poll(async () => (await ask('GET', '/chats')).body.chats.length).toBe(1)
    await clock.getByText('09:31:00').waitFor()
  })

  it('pauses a real clock, moves it, and lets it go on', async () => {
    const server = await startInspected({ knobs: { 'chat.idleTimeout': '5h' } })
    await server.chat()
    const { page } = await open(platform(server.url, '&sections=clock'))
    const clock = page.getByRole('region', { name: 'Clock' })
    await button(clock, 'Pause').click()
    await clock.getByText('real, paused').waitFor()
    const later = server.clock.now() + 3_600_000
    await button(clock, '+ 1h').click()
    await clock.getByText(new Date(later).toISOString().slice(11, 19)).waitFor()
    expect(server.clock.now()).toBe(later)
    await button(clock, /^To the next timer/).waitFor()
    await button(clock, 'Resume').click()
    await button(clock, 'Pause').waitFor()
    expect(server.clock.paused).toBe(false)
    expect(await button(clock, '+ 1h').count()).toBe(0)
  })

  it('keeps what is typed in its forms while the column shows the agent, is folded, or shows an earlier moment', async () => {
    const server = await startInspected({ clock: 'virtual' })
    await (await server.chat()).says('Hello')
    const { page } = await open(platform(server.url, `&sections=${ALL}`))
    const typed = {
      'URL that gets the events': 'http://127.0.0.1:9/not-set',
      'Time zone, and the hours of days': '{ "time_zone": "UTC" }',
      'The fault as JSON': '{ "name": "my-fault" }',
      'Search knobs': 'webhook.timeout',
      By: '90m',
      'webhook.timeout': '3s',
    }
    const field = (label: string) => page.locator('.platform-panel').getByLabel(label, { exact: true }).last()
    for (const name of ['Change', 'Custom fault']) await page.getByRole('button', { name, exact: true }).click()
    for (const [label, text] of Object.entries(typed)) await field(label).fill(text)
    const values = async () => {
      const read: Record<string, string> = {}
      for (const label of Object.keys(typed)) read[label] = await field(label).inputValue()
      return read
    }
    const press = (name: string) => button(page, name).click()
    const panel = (state: 'attached' | 'detached') => page.locator('.platform-panel').waitFor({ state })
    for (const [leave, back] of [
      ['Agent', 'Platform'],
      ['Fold Platform', 'Unfold Platform'],
    ] as const) {
      await press(leave)
      await panel('detached')
      await press(back)
      await panel('attached')
      expect(await values()).toEqual(typed)
    }
    await press('One entry back')
    await page.getByText('can be changed only now').waitFor()
    await press('Back to now')
    expect(await values()).toEqual(typed)
    await page.getByRole('form', { name: 'New fault' }).getByRole('button', { name: 'Cancel' }).click()
    await press('Custom fault')
    expect(await field('The fault as JSON').inputValue()).toContain('503')
    expect([server.config()['webhook.url'], server.config()['webhook.timeout']]).toEqual([null, '10s'])
  })

  it('saves a chat as a test that passes, into the scenarios folder or as a download', async () => {
    const folder = folderWith()
    const writers = [{ writeScenario: createScenarioWriter(folder, folder) }, {}]
    const withFolder = async () => ({ ...(await loadRecorder()), ...writers[0] })
    const server = await startInspected({ clock: 'virtual' }, { loadRecorder: withFolder })
    const chat = await server.chat({ language: 'en' })
    await chat.says('Where is my parcel?')
    await chat.press('handover')
    const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
    for (const [path, body] of Object.entries({ start: {}, 'message/': { message: 'Hi' }, end: {} }))
      await callPlatform(server, path, { chat_id: chat.id, sender, ...body })
    const { page } = await open(server.url)
    const dialog = page.getByRole('dialog', { name: 'Save as test' })
    const save = async (name: string) => {
      await page.getByRole('button', { name: 'Save as test' }).click()
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await dialog.getByText('Tried: it passes.').waitFor()
    }
    await button(page, 'Save as test').click()
    await dialog.getByText('Only a part of the chat').click()
    await dialog.getByLabel('To entry').fill('last')
    await button(dialog, 'Save').click()
    await dialog.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    for (const file of ['lost-parcel-found.yaml', 'lost-parcel-found-2.yaml']) {
      await save('Lost parcel, found')
      await dialog.getByText(`Written to ${file}.`).waitFor()
      await dialog.getByText(`npx handover-sim run ${file} --ui --target URL --port ${server.port}`).waitFor()
      expect(readFileSync(join(folder, file), 'utf8')).toContain('Where is my parcel?')
      await page.keyboard.press('Escape')
    }
    writers.shift()
    await save('Lost parcel, found')
    const downloads = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    expect(await axeViolations(page)).toEqual([])
    expect((await downloads).suggestedFilename()).toBe('lost-parcel-found.yaml')
    expect(readFileSync(await (await downloads).path(), 'utf8')).toContain('Where is my parcel?')
  })

  it('keys stay masked until asked, business hours are set as JSON, and axe finds nothing', async () => {
    const server = await startInspected({ knobs: { 'keys.handover': 'a-secret-of-this-test' } })
    const { page } = await open(platform(server.url, `&sections=${ALL}`))
    const keys = page.getByRole('region', { name: 'Webhook' })
    await keys.getByRole('button', { name: 'Show API key' }).waitFor()
    expect(await page.content()).not.toContain('a-secret-of-this-test')
    await keys.getByRole('button', { name: 'Show API key' }).click()
    await keys.getByText('a-secret-of-this-test').waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const hours = page.getByLabel('Time zone, and the hours of days')
    const written = {
      time_zone: 'Europe/Oslo',
      'mon-fri': ['09:00-12:00', '13:00-17:00'],
      sat: '22:00-02:00',
      '2199-12-24': 'closed',
    }
    await hours.fill(JSON.stringify({ ...written, sat: 'noon' }))
    await page.getByRole('button', { name: 'Set the hours' }).click()
    await page.getByText('business_hours.sat must be hours').waitFor()
    await page.getByRole('button', { name: 'Custom fault' }).click()
    await page.getByLabel('Search knobs').fill('webhook')
    expect(await axeViolations(page)).toEqual([])
    await hours.fill(JSON.stringify(written))
    await page.getByRole('button', { name: 'Set the hours' }).click()
    await expect.poll(() => server.config().business_hours).toEqual(written)
    const line = 'mon-fri 09:00-12:00 and 13:00-17:00, sat 22:00-02:00, 2199-12-24 closed (Europe/Oslo)'
    await page.getByText(line, { exact: true }).waitFor()
    await page.getByText(/^The hours (begin|end) at \d{4}-\d\d-\d\d \d\d:00:00 UTC\.$/).waitFor()
  })
})

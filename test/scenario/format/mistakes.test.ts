/** Tests that a mistake in a scenario file is reported with its place, field, value and fix. */
import { describe, expect, it } from 'vitest'
import { complaints, HEAD, load } from './written.ts'

const STEP = `${HEAD}steps:\n  - expect: start\n`

/** What is written, the place of the mistake, and the message; `…` stands for any text. */
type Mistake = readonly [yaml: string, place: string | number, message: string]

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

async function expectMistake(yaml: string, place: string, message: string): Promise<void> {
  const [first] = (await complaints(yaml)).split('\n')
  const wanted = escaped(`s.yaml:${place}: ${message}`).replace(/ ?… ?/g, '.*')
  expect(first).toMatch(new RegExp(`^${wanted}`))
}

describe('a step', () => {
  it.each<Mistake>([
    ['expect: start\n    within: 2s', 5, 'within: is not a known key; write it inside: expect: { start: {}, …'],
    ['usr: Hello', 5, 'usr: is not a known key; did you mean user?'],
    ['id: x', 5, ': has no verb: one of user, press, bot, agent, wait, think, availability, fault, deliver, …'],
    ['{ user: a, press: b }', 5, ': has user and press: one verb per step, so make it 2 steps.'],
    ['"us\\e[2Jer": a', 5, 'us<U+001B>[2Jer: is not a known key.'],
    ['wait: 5', 11, 'wait: must be a duration with a unit: 500ms, 5s, 10m, 12h, got the number 5.'],
    ['user: 12', 11, 'user: must be a string or an object, got the number 12; write it in quotes: "12".'],
    ['user: true', 11, 'user: must be a string or an object, got true; write it in quotes: "true".'],
    ['expect: strat', 13, 'expect: must be transcript, summarize, availability, start, end, … did you mean start?'],
    ['expect: { message: Hi }', 24, 'expect.message: must be a map of fields of the … such as { message: "Hi" }.'],
    ['none: { message: { $re: /a/ }, for: 1s }', 22, 'none.message: holds $re, which no body matches: write it …'],
    ['expect: { all: [{ start: { supports_attachments: true } }] }', 32, '… did you mean supports_attachment?'],
    ['expect: { end: { sender: { nmae: Anna } } }', 32, 'expect.end.sender.nmae: end has no … did you mean name?'],
    ['expect: { end: { sender.name: Anna } }', 22, 'expect.end.sender.name: end has … write sender: { name: … }.'],
    ['none: { message: { text: Hi }, for: 1s }', 24, 'none.message.text: message has no field text; it has …'],
    ['expect: { start: {}, capture: { who: sender.name } }', 42, 'expect.capture.who: begins with sender, which …'],
    ['check: { typing: yes }', 22, 'check.typing: must be true or false, got the string "yes".'],
    ['expect: { strat: {} }', 15, 'expect.strat: is not a known key; did you mean start?'],
    ['expect: { call: stat }', 15, 'expect.call: is not a known key; the name of a call is the … write start: {}.'],
    ['call: stat', 5, 'call: is not a known key; write expect: { start: {} }.'],
    [`expect: { all: [${'{ oneOf: [start, end] }, '.repeat(10)}] }`, 13, 'expect: can be met in 1024 ways, …'],
    ['expect: { start: {}, end: {} }', 13, 'expect: names start and end: name one call, or put them into all, …'],
    ['expect: { all: [start], times: 2 }', 13, 'expect: has times beside all: write it with the call it is about.'],
    ['expect: { start: {}, times: 0 }', 33, 'expect.times: must be a whole number from 1, or a map such as { …'],
    ['none: start', 11, 'none: must be an object that says for how long: { start: {}, for: 500ms }, got the …'],
    ['none: { start: {} }', 11, 'none.for: is required: a duration with a unit: 500ms, 5s, 10m, 12h.'],
    ['agent: acept', 12, 'agent: must be accept, leave, type, stop, away, back or an … did you mean accept?'],
    ['agent: { says: Hi, times: 2 }', 12, 'agent: has times, which goes with sees.'],
    ['expect: { message: { message: { $typ: string } } }', 37, 'expect.message.message.$typ: … did you mean $type?'],
    ['expect: { message: { message: { $type: string, $re: x } } }', 35, 'expect.message.message: holds $type …'],
    ['expect: { message: { message: { $re: "(" } } }', 42, 'expect.message.message.$re: is not a regular …'],
    ['check: { stats: agent }', 14, 'check.stats: is not a known key; did you mean status?'],
    ['check: { status: agnet }', 22, 'check.status: must be bot, pending or agent, got the … did you mean agent?'],
    ['check: { transcript: { last: [{ user: a, bot: b }] } }', 35, 'check.transcript.last[0]: must have one …'],
    ['user: { attach: [{ name: a.pdf }] }', 22, 'user.attach[0]: must be { file } or { name, type, size_kb }.'],
    ['user: { attach: [{ file: no.pdf }] }', 30, 'user.attach[0].file: there is no such file: '],
    ['fault: { on: { api: mesage }, drop: before }', 25, 'fault.on.api: must be … did you mean message?'],
    ['deliver: { event: X, replay: s1 }', 14, 'deliver: must have either event or replay.'],
    ['deliver: { replay: s2 }', 24, 'deliver.replay: names no earlier step; did you mean s1?'],
    ['{ press: handover, id: s1 }', 28, 'id: is taken: the step at s.yaml:4 has it already.'],
    ['expect: { start: {}, since: later }', 33, 'expect.since: names no earlier step; there is s1.'],
    ['{ press: handover, chat: ada }', 30, 'chat: "ada" is not a chat of this scenario; there is main.'],
    ['user: Hi $(who)', 11, 'user: $(who) is not defined at this point; there are hello, chat, bot, sim, env, …'],
    ['user: $(chat.nam)', 11, 'user: $(chat.nam) does not exist; did you mean name?'],
    ['user: $(texts.emojy)', 11, 'user: $(texts.emojy) does not exist; did you mean emoji?'],
    ['user: $(config.messages.close)', 11, 'user: $(config.messages.close) is not … did you mean messages.closed?'],
    ['{ user: Hi, name: to $(chat.name) }', 23, 'name: $(chat.name) must be known before the run: of vars, …'],
    ['wait: $(chat.id)', 11, 'wait: $(chat.id) must be known before the run: of vars, matrix, params, $(i) or …'],
    ['expect: { start: {}, capture: { hello: body.x } }', 37, 'expect.capture.hello: is … choose another name.'],
    ['expect: { start: {}, capture: { chat: body.x } }', 37, 'expect.capture.chat: is … choose another name.'],
    ['include: parts/no.yaml', 14, 'include: parts/no.yaml cannot be read: there is no such file.'],
    ['repeat: { times: 0, steps: [] }', 22, 'repeat.times: must be a whole number from 1, got the number 0.'],
  ])('%s', async (step, column, message) => {
    // `vars` stand behind the steps, so that they move no line.
    const yaml = `version: 1\nname: T\nsteps:\n  - { press: handover, id: s1 }\n  - ${step}\n  - expect: end\nvars: { hello: Hi }\n`
    const line = step.includes('\n') ? 6 : 5
    await expectMistake(yaml, `${line}:${column}`, `steps[1]${/^[:…]/.test(message) ? '' : '.'}${message}`)
  })

  it('a problem is printed with its line and a caret', async () => {
    expect(await complaints(`${HEAD}steps:\n  - wait: 5\n`)).toBe(
      's.yaml:4:11: steps[0].wait: must be a duration with a unit: 500ms, 5s, 10m, 12h, got the number 5.\n  4 |   - wait: 5\n    |           ^',
    )
  })

  it('all problems of all files are reported at once, in the order of the lines', async () => {
    const files = {
      'a.yaml': `${HEAD}stpes: []\nsteps:\n  - wait: 5\n  - usr: x\n---\nname: U\nsteps: []\n`,
      'b.yaml': `version: 1\nname: B\nsteps:\n  - expect: $(no)\n`,
    }
    const lines = (await complaints(files, ['.'])).match(/^[ab]\.yaml:\d+/gm)
    expect(lines).toEqual(['a.yaml:3', 'a.yaml:5', 'a.yaml:6', 'a.yaml:8', 'b.yaml:4'])
  })
})

describe('the head of a scenario', () => {
  it.each<Mistake>([
    ['version: 2\nname: T', '1:10', 'version: must be 1, got the number 2.'],
    ['version: 1', '1:1', 'name: is required: a string.'],
    ['stpes: []', '3:1', 'stpes: is not a known key; did you mean steps?'],
    ['chat: {}\nchats: { ada: {} }', '1:1', 'has chat and chats: put the one chat into chats, under a name.'],
    ['chats: {}', '1:1', 'has no chat in chats: name one, or leave chats out.'],
    ['config: { webhook.retri: off }', '3:11', 'config.webhook.retri: is not a known … did you mean webhook.retry?'],
    ['config: { webhook.retry: 5 }', '3:26', 'config.webhook.retry: must be … such as [1s, 5s], got the number 5.'],
    ['config: { typing.webhook: off, typing: { webhook: off } }', '3:42', 'config.typing.webhook: sets …'],
    ['matrix: { json: [compact, tight] }\nconfig: { webhook.json: $(json) }', '4:25', 'config.webhook.json: …'],
    ['bot: { id: 9007199254740993 }', '3:12', 'bot.id: must be a whole number from 1, got the number …'],
    ['business_hours: { time_zone: Europe/Oslo, mon: 9-17 }', '3:48', 'business_hours.mon: must be hours such …'],
    ['clock: slow', '3:8', 'clock: must be real, virtual or an object, got the string "slow".'],
    ['strict: { allow: [tpying_stop] }', '3:19', 'strict.allow[0]: must be transcript, … did you mean typing_stop?'],
    ['strict: fail', '3:9', 'strict: must be true, false or an object, got the string "fail".'],
    ['timeouts: { expect: 5 }', '3:21', 'timeouts.expect: must be a duration with a unit: 500ms, 5s, 10m, 12h, …'],
    ['version: 1\nname: For $(chat.language)', '2:7', 'name: $(chat.language) must be known before the run: of …'],
    ['tags: [$(x)]', '3:8', 'tags[0]: $(x) is not defined at this … there are chat, bot, sim, env, config, texts.'],
    ['never: [start, { message: { text: Hi } }]', '3:29', 'never[1].message.text: message has no field text; it …'],
    ['vars: { chat: x }', '3:9', 'vars.chat: is taken: $(chat) is always defined; choose another name.'],
    ['vars: { a: $(b) }', '3:12', 'vars.a: $(b) is not defined at this point; did you mean a?'],
    ['matrix: { a: [] }', '3:14', 'matrix.a: must be an array that is not empty, got an array of 0.'],
  ])('%s', async (written, place, message) => {
    const head = written.startsWith('version: ') ? written : `${HEAD}${written}`
    await expectMistake(`${head}\nsteps:\n  - expect: start\n`, String(place), message)
  })

  it('a scenario without expectations is refused', async () => {
    expect(await complaints(`${HEAD}steps:\n  - press: handover\n  - wait: 5s\n`)).toMatch(
      /^s\.yaml:3:1: steps: assert nothing: add an expect, none, check, agent: \{ sees: \.\.\. \} or never\.\n/,
    )
    expect(await load(`${HEAD}never: [start]\nsteps:\n  - press: handover\n`)).toHaveLength(1)
  })

  it('two scenarios, or two plans of a matrix, with the same name are refused', async () => {
    expect(await complaints(`${STEP}---\n${STEP}`)).toMatch(/^s\.yaml:7:7: name: "T" is taken: s\.yaml:2 has it\.\n/)
    const matrix = `${HEAD}matrix: { a: [1, 1] }\nsteps:\n  - expect: start\n`
    expect(await complaints(matrix)).toMatch(/^s\.yaml:2:7: name: "T \[a=1\]" is taken/)
  })

  it('a step without chat is refused when there are several chats', async () => {
    const chats = `${HEAD}chats: { ada: {}, bo: {} }\nsteps:\n  - press: handover\n  - wait: 1s\n  - expect: availability\n`
    expect(await complaints(chats)).toMatch(
      /^s\.yaml:5:5: steps\[0\]: does not say which chat: write chat: ada or chat: bo\.\n/,
    )
  })
})

describe('YAML with another meaning than it seems', () => {
  it.each<Mistake>([
    ['- expect: { message: { message: { $re: /a,b/ } } }', '4:43', 'has no value; inside { } quote a text that …'],
    ['- user: {{ who }}', '4:10', '{{ }} is a map inside a map here; write $(name) where a value goes in, …'],
    ['- user: Hi {{ who }}', '4:9', '{{ }} fills nothing in; write $(name) where a value goes in, without quotes.'],
    [`- expect: { message: \${{ x }} }`, '4:23', 'Unexpected flow-map-start at node end; write $(name) where a …'],
    ['- user: Note: hi', '4:9', 'Nested mappings are not allowed in compact mappings; a text with ": " … quoted.'],
    ['  - press: handover\n - expect: start', '5:1', 'this item does not begin in the column of the other …'],
    ['- user: @all', '4:9', 'Plain value cannot start with reserved character @; quote the text.'],
    ['- user: *bold*', '4:9', '*bold* is an alias of nothing; set it with &bold* before, or quote the text.'],
    ['- user: "Hi\n  - press: handover\n  - expect: { start: {} }', '4:9', 'this quote is never closed.'],
    ["- user: { text: 'Hi }\n  - press: handover", '4:17', 'this quote is never closed.'],
    ["- user: 'It's me'", '4:13', "Unexpected scalar at node end; a ' inside '...' is written twice, or … quotes."],
    ['\t- user: Hi', '4:1', 'Tabs are not allowed as indentation; indent with spaces.'],
  ])('%s', async (steps, place, message) => {
    await expectMistake(`${HEAD}steps:\n${steps}\n`, String(place), message)
  })

  it('YAML 1.1 is refused, because it reads no as false', async () => {
    const report = await complaints(`%YAML 1.1\n---\n${HEAD}chat: { language: no }\nsteps:\n  - expect: start\n`)
    expect(report).toContain('YAML 1.1 is not read, because no, yes and 09:00 mean something else in it; use YAML 1.2.')
  })

  it('YAML 1.2 reads no, 09:00 and a quoted {{ }} as texts', async () => {
    const steps = 'steps:\n  - user: 09:00\n  - user: "{{ who }}"\n  - expect: start\n'
    const [loaded] = await load(`${HEAD}chat: { language: no }\n${steps}`)
    expect(loaded!.value.chat).toEqual({ language: 'no' })
    expect(loaded!.value.steps.slice(0, 2)).toEqual([{ user: '09:00' }, { user: '{{ who }}' }])
  })

  it('quoted patterns stay patterns', async () => {
    const [loaded] = await load(`${HEAD}steps:\n  - expect: { message: { message: { $re: "/a,b/i" } } }\n`)
    expect(loaded!.value.steps[0]).toEqual({ expect: { message: { message: { $re: '/a,b/i' } } } })
  })
})

/** Tests that a problem of a scenario file is reported with place, field, value and fix. */
import { describe, expect, it } from 'vitest'
import { complaints, HEAD, load } from './written.ts'

const STEP = `${HEAD}steps:\n  - expect: start\n`

describe('a step', () => {
  const line = 5
  const cases: [string, string, string][] = [
    [
      'a bound beside its expect',
      'expect: start\n    within: 2s',
      `s.yaml:${line + 1}:5: steps[1].within: is not a known key; write it inside: expect: { start: {}, within: ... }`,
    ],
    ['an unknown verb', 'usr: Hello', `s.yaml:${line}:5: steps[1].usr: is not a known key; did you mean user?`],
    [
      'no verb',
      'id: x',
      `s.yaml:${line}:5: steps[1]: has no verb: one of user, press, bot, agent, wait, think, availability, fault, deliver, target, expect, none, check, log, include, repeat, parallel.`,
    ],
    [
      'two verbs',
      '{ user: a, press: b }',
      `s.yaml:${line}:5: steps[1]: has user and press: one verb per step, so make it 2 steps.`,
    ],
    [
      'a key that would clear the screen',
      '"us\\e[2Jer": a',
      `s.yaml:${line}:5: steps[1].us<U+001B>[2Jer: is not a known key.`,
    ],
    [
      'a duration without a unit',
      'wait: 5',
      `s.yaml:${line}:11: steps[1].wait: must be a duration with a unit: 500ms, 5s, 10m, 12h, got the number 5.`,
    ],
    [
      'a number where a text is expected',
      'user: 12',
      `s.yaml:${line}:11: steps[1].user: must be a string or an object, got the number 12; write it in quotes: "12".`,
    ],
    [
      'a boolean where a text is expected',
      'user: true',
      `s.yaml:${line}:11: steps[1].user: must be a string or an object, got true; write it in quotes: "true".`,
    ],
    [
      'an unknown call',
      'expect: strat',
      `s.yaml:${line}:13: steps[1].expect: must be transcript, summarize, availability, start, end, message, typing_start, typing_stop, chat, any or an object, got the string "strat"; did you mean start?`,
    ],
    [
      'a body that is a text',
      'expect: { message: Hi }',
      `s.yaml:${line}:24: steps[1].expect.message: must be a map of fields of the body, such as { message: "Hi" }.`,
    ],
    [
      'a body that is a pattern',
      'none: { message: { $re: /a/ }, for: 1s }',
      `s.yaml:${line}:22: steps[1].none.message: holds $re, which no body matches: write it at a field, such as { message: { $re: … } }.`,
    ],
    [
      'a field misspelt',
      'expect: { all: [{ start: { supports_attachments: true } }, end] }',
      `s.yaml:${line}:32: steps[1].expect.all[0].start.supports_attachments: start has no field supports_attachments; did you mean supports_attachment?`,
    ],
    [
      'a field inside another one, misspelt',
      'expect: { end: { sender: { nmae: Anna } } }',
      `s.yaml:${line}:32: steps[1].expect.end.sender.nmae: end has no field sender.nmae; did you mean name?`,
    ],
    [
      'a field inside another one, with a dot',
      'expect: { end: { sender.name: Anna } }',
      `s.yaml:${line}:22: steps[1].expect.end.sender.name: end has no field sender.name; write sender: { name: … }.`,
    ],
    [
      'an unknown field in none',
      'none: { message: { text: Hi }, for: 1s }',
      `s.yaml:${line}:24: steps[1].none.message.text: message has no field text; it has bot_id, chat_id, message, sender, buttons.`,
    ],
    [
      'a capture of what a call does not have',
      'expect: { start: {}, capture: { who: sender.name } }',
      `s.yaml:${line}:42: steps[1].expect.capture.who: begins with sender, which a call does not have; it has body, response, status, endpoint, alias, method, path, headers, as in body.sender.name.`,
    ],
    [
      'yes, which YAML 1.2 reads as a text',
      'check: { typing: yes }',
      `s.yaml:${line}:22: steps[1].check.typing: must be true or false, got the string "yes".`,
    ],
    [
      'an unknown call in a map',
      'expect: { strat: {} }',
      `s.yaml:${line}:15: steps[1].expect.strat: is not a known key; did you mean start?`,
    ],
    [
      'the name of a call as a value',
      'expect: { call: stat }',
      `s.yaml:${line}:15: steps[1].expect.call: is not a known key; the name of a call is the key: write start: {}.`,
    ],
    [
      'a call as a step',
      'call: stat',
      `s.yaml:${line}:5: steps[1].call: is not a known key; write expect: { start: {} }.`,
    ],
    [
      'more alternatives than the limit',
      `expect: { all: [${Array(10).fill('{ oneOf: [start, end] }').join(', ')}] }`,
      `s.yaml:${line}:13: steps[1].expect: can be met in 1024 ways, because its oneOf multiply; at most 1000 are tried: make it several steps.`,
    ],
    [
      'two calls at once',
      'expect: { start: {}, end: {} }',
      `s.yaml:${line}:13: steps[1].expect: names start and end: name one call, or put them into all, seq or oneOf.`,
    ],
    [
      'an option beside a group',
      'expect: { all: [start], times: 2 }',
      `s.yaml:${line}:13: steps[1].expect: has times beside all: write it with the call it is about.`,
    ],
    [
      'times: 0',
      'expect: { start: {}, times: 0 }',
      `s.yaml:${line}:33: steps[1].expect.times: must be a whole number from 1, or a map such as { min: 1, max: 2 } (none: says that no call comes), got the number 0.`,
    ],
    [
      'none without a duration',
      'none: start',
      `s.yaml:${line}:11: steps[1].none: must be an object that says for how long: { start: {}, for: 500ms }, got the string "start".`,
    ],
    [
      'none without a duration, in a map',
      'none: { start: {} }',
      `s.yaml:${line}:11: steps[1].none.for: is required: a duration with a unit: 500ms, 5s, 10m, 12h.`,
    ],
    [
      'an unknown verb of the agent',
      'agent: acept',
      `s.yaml:${line}:12: steps[1].agent: must be accept, leave, type, stop, away, back or an object, got the string "acept"; did you mean accept?`,
    ],
    [
      'options of another verb of the agent',
      'agent: { says: Hi, times: 2 }',
      `s.yaml:${line}:12: steps[1].agent: has times, which goes with sees.`,
    ],
    [
      'an unknown matcher',
      'expect: { message: { message: { $typ: string } } }',
      `s.yaml:${line}:37: steps[1].expect.message.message.$typ: is not a matcher; did you mean $type?`,
    ],
    [
      'a matcher beside another key',
      'expect: { message: { message: { $type: string, $re: x } } }',
      `s.yaml:${line}:35: steps[1].expect.message.message: holds $type and $re: a matcher such as $type or $re stands alone in its map.`,
    ],
    [
      'an invalid regular expression',
      'expect: { message: { message: { $re: "(" } } }',
      `s.yaml:${line}:42: steps[1].expect.message.message.$re: is not a regular expression: Invalid regular expression: /(/u: Unterminated group.`,
    ],
    [
      'an unknown key of check',
      'check: { stats: agent }',
      `s.yaml:${line}:14: steps[1].check.stats: is not a known key; did you mean status?`,
    ],
    [
      'an unknown status',
      'check: { status: agnet }',
      `s.yaml:${line}:22: steps[1].check.status: must be bot, pending or agent, got the string "agnet"; did you mean agent?`,
    ],
    [
      'a row with two speakers',
      'check: { transcript: { last: [{ user: a, bot: b }] } }',
      `s.yaml:${line}:35: steps[1].check.transcript.last[0]: must have one speaker: { user: text }, { bot: text } or { agent: name, text: text }.`,
    ],
    [
      'an attachment without type and size',
      'user: { attach: [{ name: a.pdf }] }',
      `s.yaml:${line}:22: steps[1].user.attach[0]: must be { file } or { name, type, size_kb }.`,
    ],
    [
      'a missing file',
      'user: { attach: [{ file: no.pdf }] }',
      `s.yaml:${line}:30: steps[1].user.attach[0].file: there is no such file: `,
    ],
    [
      'a fault on an unknown endpoint',
      'fault: { on: { api: mesage }, drop: before }',
      `s.yaml:${line}:25: steps[1].fault.on.api: must be transcript, summarize, availability, start, end, message, typing_start, typing_stop, chat, any or an array, got the string "mesage"; did you mean message?`,
    ],
    [
      'an event and a replay',
      'deliver: { event: X, replay: s1 }',
      `s.yaml:${line}:14: steps[1].deliver: must have either event or replay.`,
    ],
    [
      'a replay of an unknown id',
      'deliver: { replay: s2 }',
      `s.yaml:${line}:24: steps[1].deliver.replay: names no earlier step; did you mean s1?`,
    ],
    [
      'an id that is taken',
      '{ press: handover, id: s1 }',
      `s.yaml:${line}:28: steps[1].id: is taken: the step at s.yaml:4 has it already.`,
    ],
    [
      'since with an unknown id',
      'expect: { start: {}, since: later }',
      `s.yaml:${line}:33: steps[1].expect.since: names no earlier step; there is s1.`,
    ],
    [
      'an unknown chat',
      '{ press: handover, chat: ada }',
      `s.yaml:${line}:30: steps[1].chat: "ada" is not a chat of this scenario; there is main.`,
    ],
    [
      'an undefined name',
      'user: Hi $(who)',
      `s.yaml:${line}:11: steps[1].user: $(who) is not defined at this point; there are hello, chat, bot, sim, env, config, texts.`,
    ],
    [
      'an unknown part of chat',
      'user: $(chat.nam)',
      `s.yaml:${line}:11: steps[1].user: $(chat.nam) does not exist; did you mean name?`,
    ],
    [
      'an unknown named text',
      'user: $(texts.emojy)',
      `s.yaml:${line}:11: steps[1].user: $(texts.emojy) does not exist; did you mean emoji?`,
    ],
    [
      'an unknown setting',
      'user: $(config.messages.close)',
      `s.yaml:${line}:11: steps[1].user: $(config.messages.close) is not a setting; did you mean messages.closed?`,
    ],
    [
      'a name known too late',
      '{ user: Hi, name: to $(chat.name) }',
      `s.yaml:${line}:23: steps[1].name: $(chat.name) must be known before the run: of vars, matrix, params, $(i) or $(user), not from a call or a chat.`,
    ],
    [
      'a duration known too late',
      'wait: $(chat.id)',
      `s.yaml:${line}:11: steps[1].wait: $(chat.id) must be known before the run: of vars, matrix, params, $(i) or $(user), not from a call or a chat.`,
    ],
    [
      'a capture under a taken name',
      'expect: { start: {}, capture: { hello: body.x } }',
      `s.yaml:${line}:37: steps[1].expect.capture.hello: is taken: it is one of vars, matrix or params; choose another name.`,
    ],
    [
      'a capture of what is always there',
      'expect: { start: {}, capture: { chat: body.x } }',
      `s.yaml:${line}:37: steps[1].expect.capture.chat: is taken: it is always defined; choose another name.`,
    ],
    [
      'an include of nothing',
      'include: parts/no.yaml',
      `s.yaml:${line}:14: steps[1].include: parts/no.yaml cannot be read: there is no such file.`,
    ],
    [
      'nothing repeated',
      'repeat: { times: 0, steps: [] }',
      `s.yaml:${line}:22: steps[1].repeat.times: must be a whole number from 1, got the number 0.`,
    ],
  ]
  it.each(cases)('reports %s', async (_what, step, message) => {
    // `vars` stand behind the steps, so that they move no line.
    const written = `version: 1\nname: T\nsteps:\n  - { press: handover, id: s1 }\n  - ${step}\n  - expect: end\nvars: { hello: Hi }\n`
    const first = (await complaints(written)).split('\n')[0]!
    expect(first.startsWith(message) ? message : first).toBe(message)
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
  const cases: [string, string, string][] = [
    ['another version', 'version: 2\nname: T\n', 's.yaml:1:10: version: must be 1, got the number 2.'],
    ['no name', 'version: 1\n', 's.yaml:1:1: name: is required: a string.'],
    ['an unknown key', `${HEAD}stpes: []\n`, 's.yaml:3:1: stpes: is not a known key; did you mean steps?'],
    [
      'a chat and chats',
      `${HEAD}chat: {}\nchats: { ada: {} }\n`,
      's.yaml:1:1: has chat and chats: put the one chat into chats, under a name.',
    ],
    ['no chat at all', `${HEAD}chats: {}\n`, 's.yaml:1:1: has no chat in chats: name one, or leave chats out.'],
    [
      'an unknown knob',
      `${HEAD}config: { webhook.retri: off }\n`,
      's.yaml:3:11: config.webhook.retri: is not a known key; did you mean webhook.retry?',
    ],
    [
      'a wrong knob',
      `${HEAD}config: { webhook.retry: 5 }\n`,
      's.yaml:3:26: config.webhook.retry: must be off | a list of durations such as [1s, 5s], got the number 5.',
    ],
    [
      'a knob twice',
      `${HEAD}config: { typing.webhook: off, typing: { webhook: off } }\n`,
      's.yaml:3:42: config.typing.webhook: sets typing.webhook again.',
    ],
    [
      'a knob wrong by a matrix',
      `${HEAD}matrix: { json: [compact, tight] }\nconfig: { webhook.json: $(json) }\n`,
      's.yaml:4:25: config.webhook.json: must be compact | spaced | ascii | slashes | pretty | newline | reordered, got "tight".',
    ],
    [
      'an id too large to be exact',
      `${HEAD}bot: { id: 9007199254740993 }\n`,
      's.yaml:3:12: bot.id: must be a whole number from 1, got the number 9007199254740992.',
    ],
    [
      'hours that do not exist',
      `${HEAD}business_hours: { time_zone: Europe/Oslo, mon: 9-17 }\n`,
      's.yaml:3:48: business_hours.mon: must be hours such as "09:00-17:00", got "9-17".',
    ],
    [
      'a clock of another form',
      `${HEAD}clock: slow\n`,
      's.yaml:3:8: clock: must be real, virtual or an object, got the string "slow".',
    ],
    [
      'a call that may not be allowed',
      `${HEAD}strict: { allow: [tpying_stop] }\n`,
      's.yaml:3:19: strict.allow[0]: must be transcript, summarize, availability, start, end, message, typing_start, typing_stop or chat, got the string "tpying_stop"; did you mean typing_stop?',
    ],
    [
      'strict as a word',
      `${HEAD}strict: fail\n`,
      's.yaml:3:9: strict: must be true, false or an object, got the string "fail".',
    ],
    [
      'a timeout without unit',
      `${HEAD}timeouts: { expect: 5 }\n`,
      's.yaml:3:21: timeouts.expect: must be a duration with a unit: 500ms, 5s, 10m, 12h, got the number 5.',
    ],
    [
      'a name known too late',
      'version: 1\nname: For $(chat.language)\n',
      's.yaml:2:7: name: $(chat.language) must be known before the run: of vars, matrix, params, $(i) or $(user), not from a call or a chat.',
    ],
    [
      'a tag that is not defined',
      `${HEAD}tags: [$(x)]\n`,
      's.yaml:3:8: tags[0]: $(x) is not defined at this point; there are chat, bot, sim, env, config, texts.',
    ],
    [
      'a field that never comes, for the whole run',
      `${HEAD}never: [start, { message: { text: Hi } }]\n`,
      's.yaml:3:29: never[1].message.text: message has no field text; it has bot_id, chat_id, message, sender, buttons.',
    ],
    [
      'a var under a taken name',
      `${HEAD}vars: { chat: x }\n`,
      's.yaml:3:9: vars.chat: is taken: $(chat) is always defined; choose another name.',
    ],
    [
      'a var that reads nothing',
      `${HEAD}vars: { a: $(b) }\n`,
      's.yaml:3:12: vars.a: $(b) is not defined at this point; did you mean a?',
    ],
    [
      'a matrix of nothing',
      `${HEAD}matrix: { a: [] }\n`,
      's.yaml:3:14: matrix.a: must be an array that is not empty, got an array of 0.',
    ],
  ]
  it.each(cases)('reports %s', async (_what, head, message) => {
    const report = await complaints(`${head}steps:\n  - expect: start\n`)
    expect(report.split('\n')[0]).toBe(message)
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
  const cases: [string, string, string][] = [
    [
      'a comma in braces',
      '- expect: { message: { message: { $re: /a,b/ } } }',
      '4:43: has no value; inside { } quote a text that has , [ ] { } or ": " in it.',
    ],
    [
      'double braces',
      '- user: {{ who }}',
      '4:10: {{ }} is a map inside a map here; write $(name) where a value goes in, without quotes.',
    ],
    [
      'double braces in a text',
      '- user: Hi {{ who }}',
      '4:9: {{ }} fills nothing in; write $(name) where a value goes in, without quotes.',
    ],
    [
      'dollar braces in braces',
      `- expect: { message: \${{ x }} }`,
      '4:23: Unexpected flow-map-start at node end; write $(name) where a value goes in, without quotes.',
    ],
    [
      'a colon in a text',
      '- user: Note: hi',
      '4:9: Nested mappings are not allowed in compact mappings; a text with ": " in it must be quoted.',
    ],
    [
      'an item with less indentation',
      '  - press: handover\n - expect: start',
      '5:1: this item does not begin in the column of the other items; indent the - of every item of a list equally.',
    ],
    [
      'a text that begins with @',
      '- user: @all',
      '4:9: Plain value cannot start with reserved character @; quote the text.',
    ],
    [
      'a text that begins with *',
      '- user: *bold*',
      '4:9: *bold* is an alias of nothing; set it with &bold* before, or quote the text.',
    ],
    [
      'a quote that is never closed, at the place where it opens',
      `- user: "Hi\n  - press: handover\n  - expect: { start: {} }`,
      '4:9: this quote is never closed.',
    ],
    ['the same in braces', `- user: { text: 'Hi }\n  - press: handover`, '4:17: this quote is never closed.'],
    [
      'a quote inside quotes',
      `- user: 'It's me'`,
      "4:13: Unexpected scalar at node end; a ' inside '...' is written twice, or the text put between double quotes.",
    ],
    ['a tab', '\t- user: Hi', '4:1: Tabs are not allowed as indentation; indent with spaces.'],
  ]
  it.each(cases)('reports %s', async (_what, step, message) => {
    expect((await complaints(`${HEAD}steps:\n${step}\n`)).split('\n')[0]).toBe(`s.yaml:${message}`)
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

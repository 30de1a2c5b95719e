import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { driverJsonSchema } from '../../src/running/agent-driver/read-driver.ts'
import { folderWith } from '../config/folder.ts'
import { around } from './desk.ts'

const validate = new Ajv2020({ strict: false }).compile(driverJsonSchema())

describe('the JSON Schema of a driver', () => {
  it.each([
    ['accept: { POST: http://x/ }', true],
    ['accept: manual', true],
    ['version: 1\nhttp: http://x\nheaders: { a: b }\ntimeout: 5s\nsays: { POST: /x, json: [1], timeout: 1m }', true],
    ['does: { x: { exec: [a, b] } }', true],
    ['target: { start: [a], ready: http://x/, env: { A: b }, cwd: c, ready_timeout: 1s, stop_timeout: 1s }', true],
    ['acept: { POST: http://x/ }', false],
    ['accept: { POST: http://x/, GET: http://x/ }', false],
    ['accept: { json: 1 }', false],
    ['accept: somebody', false],
    ['accept: { exec: [] }', false],
    ['accept: { exec: [a], timeout: 5 }', false],
    ['does: { x: {} }', false],
    ['target: { start: [a] }', false],
    ['version: 2', false],
  ])('agrees with the program about %s', async (text, right) => {
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(right)
    const cwd = folderWith({ 'd.yaml': text })
    const loaded = await loadDriver('d.yaml', around({ cwd, isTTY: true })).catch(() => null)
    expect(loaded !== null).toBe(right)
  })
})

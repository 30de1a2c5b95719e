#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`handover-sim needs Node 20.19 or newer, and this is Node ${process.versions.node}.\n`)
  process.exit(2)
}
// A proxy of the environment is for other machines: these commands, and the programs that they start, reach this one without it.
const direct = process.env.no_proxy ?? process.env.NO_PROXY
process.env.no_proxy = process.env.NO_PROXY = `${direct ? `${direct},` : ''}localhost,127.0.0.1,::1,[::1]`
require('node:module').enableCompileCache?.()
const { main } = require('../dist/cli.cjs')

process.exitCode = 70 // When Node ends before the command does.
main().then(code => {
  process.exitCode = code
})

/**
 * The first program of the single executable: writes the files of the package to a folder of its user, once for each version, and
 * runs `handover-sim` there. With the path of one of these files as its first argument, it runs that file as `node` would.
 */
const { createHash } = require('node:crypto')
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir, tmpdir } = require('node:os')
const { dirname, join, resolve } = require('node:path')
const { getRawAsset } = require('node:sea')
const { gunzipSync } = require('node:zlib')

const packed = Buffer.from(getRawAsset('package'))
const root = filesOfPackage()
const given = process.argv.slice(2)
const own = given[0] !== undefined && resolve(given[0]).startsWith(root) && existsSync(given[0])
const script = own ? resolve(given.shift()) : join(root, 'bin/handover-sim.js')
process.argv = [process.execPath, script, ...given]
// A module on the disk can import modules, which the program inside the executable cannot.
createRequire(script)(join(root, 'run.cjs'))

function filesOfPackage() {
  const name = createHash('sha256').update(packed).digest('hex').slice(0, 16)
  const folder =
    process.env.XDG_CACHE_HOME ||
    (process.platform === 'win32' ? process.env.LOCALAPPDATA : '') ||
    join(homedir(), '.cache')
  try {
    return written(join(folder, 'handover-sim', name))
  } catch {
    // No home, or one that cannot be written: a folder for this process alone.
    const own = mkdtempSync(join(tmpdir(), 'handover-sim-'))
    process.on('exit', () => rmSync(own, { recursive: true, force: true }))
    return written(join(own, 'package'))
  }
}

/** Appears in one step, so that another process sees all files or none. */
function written(folder) {
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  const draft = mkdtempSync(`${folder}-`)
  const content = gunzipSync(packed)
  const headerEnd = content.indexOf(0)
  let offset = headerEnd + 1
  for (const [path, bytes] of JSON.parse(content.subarray(0, headerEnd).toString('utf8'))) {
    mkdirSync(dirname(join(draft, path)), { recursive: true })
    writeFileSync(join(draft, path), content.subarray(offset, offset + bytes))
    offset += bytes
  }
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(folder)) throw error
  }
  return folder
}

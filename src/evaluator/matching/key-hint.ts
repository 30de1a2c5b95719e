/** A field that is missing, and one that looks as if it were meant. */
import { fieldName } from '../../contract/explain-issues.ts'
import { nearest } from '../../text/near-names.ts'

type Path = readonly PropertyKey[]

const DEEPEST = 4
const MOST = 200

/** `there is senderName: did you mean sender.name?` */
export function keyHint(missing: Path, root: unknown): string | undefined {
  const there = pathsIn(root)
  const wanted = plain(missing)
  const found = there.find(path => plain(path) === wanted) ?? misspelt(missing, there) ?? elsewhere(missing, there)
  return found && `there is ${fieldName(found)}: did you mean ${fieldName(missing)}?`
}

/** `sender.name`, `senderName`, `sender_name` and `Sender-Name` alike. */
const plain = (path: Path) =>
  path
    .map(String)
    .join('')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

const SHORTEST = 4

/** A brother with nearly the same name. */
function misspelt(missing: Path, there: readonly Path[]): Path | undefined {
  const name = String(missing.at(-1) ?? '')
  const parent = fieldName(missing.slice(0, -1))
  const brothers = there.filter(path => path.length === missing.length && fieldName(path.slice(0, -1)) === parent)
  if (name.length < SHORTEST) return undefined
  return brothers.find(path => nearest(name, [String(path.at(-1))]) !== '')
}

/** The same name one level too high or too low. */
function elsewhere(missing: Path, there: readonly Path[]): Path | undefined {
  return there.find(path => path.length !== missing.length && path.at(-1) === missing.at(-1))
}

function pathsIn(value: unknown, path: Path = [], found: Path[] = []): Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length === DEEPEST) return found
  for (const [key, inner] of Object.entries(value)) {
    if (found.length === MOST) break
    found.push([...path, key])
    pathsIn(inner, [...path, key], found)
  }
  return found
}

/** Whether a process group still has somebody in it who can do anything. */
import { readdirSync, readFileSync } from 'node:fs'

export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch {
    return false
  }
  return process.platform !== 'linux' || hasLiving(group)
}

/** The dead that nobody has collected yet, as happens in containers, are still members of their group. */
function hasLiving(group: number): boolean {
  try {
    return readdirSync('/proc').some(name => /^\d+$/.test(name) && isLiving(name, group))
  } catch {
    return true
  }
}

/** `123 (a name) S 1 123 ...`: state, parent, group. */
function isLiving(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

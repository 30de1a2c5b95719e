/** From one row or scenario to another. */
import { shownRows } from './diagrams.ts'

/** The row so many further, or the last there is; hidden ones are passed over. */
export function moveFrom(row: HTMLElement, by: number): HTMLElement {
  const rows = shownRows(row.closest('.rows')!)
  return rows[clamp(rows.indexOf(row) + by, rows.length)] ?? row
}

export function failureFrom(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
  const rows = shownRows(row.closest('.rows')!)
  const at = rows.indexOf(row)
  const ahead = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse()
  const behind = by > 0 ? rows.slice(0, at) : rows.slice(at + 1).reverse()
  return [...ahead, ...behind].find(isFailed)
}

const isFailed = (row: Element) => row.classList.contains('failed')

export function summaryFrom(summary: HTMLElement, by: number): HTMLElement {
  const all = [...document.querySelectorAll<HTMLElement>('.play:not([hidden]) > summary')]
  return all[clamp(all.indexOf(summary) + by, all.length)] ?? summary
}

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index))

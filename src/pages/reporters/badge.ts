/** Draws a badge of a certificate as SVG: `handover | resilient`. */

import type { CertificateReport } from '../../running/certifier/report.ts'
import { element, xmlText } from './junit.ts'

const LABEL = 'handover'

type BadgeValue = 'basic' | 'resilient' | 'strict' | 'failing' | 'incomplete'

/** Dark enough for white text: a contrast of at least 4.5 to 1. */
const COLORS: Readonly<Record<BadgeValue, string>> = {
  strict: '#1a7f37',
  resilient: '#1a7f37',
  basic: '#0969da',
  failing: '#cf222e',
  incomplete: '#57606a',
}
const LABEL_COLOR = '#24292f'

/** failing: a check fails, expected or not. incomplete: no check fails, and there is no level. */
export function badgeValue({ level, counts }: Pick<CertificateReport, 'level' | 'counts'>): BadgeValue {
  if (level !== null) return level
  return counts.fail > 0 || counts.error > 0 ? 'failing' : 'incomplete'
}

const HEIGHT = 20
const PADDING = 7
const FONT = { 'font-family': 'Verdana, DejaVu Sans, sans-serif', 'font-size': 11, fill: '#fff' }
const NARROW = 'fijlrt'

export function certificateBadge(certificate: CertificateReport): string {
  const value = badgeValue(certificate)
  const title = `${LABEL}: ${value}`
  const left = textWidth(LABEL) + 2 * PADDING
  const width = left + textWidth(value) + 2 * PADDING
  // A box with round corners at its left.
  const leftSide = `M3 0h${left - 3}v${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z`
  const size = { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` }
  return `${element('svg', { xmlns: 'http://www.w3.org/2000/svg', role: 'img', 'aria-label': title, ...size }, [
    element('title', {}, [xmlText(title)]),
    element('rect', { width, height: HEIGHT, rx: 3, fill: COLORS[value] }),
    element('path', { d: leftSide, fill: LABEL_COLOR }),
    element('g', FONT, [textAt(0, LABEL), textAt(left, value)]),
  ])}\n`
}

/** About that of the font. The texts are stretched to it, so that every font fits. */
const textWidth = (text: string): number =>
  Math.round([...text].reduce((sum, character) => sum + (NARROW.includes(character) ? 4.3 : 6.9), 0))

function textAt(x: number, text: string): string {
  const place = { x: x + PADDING, y: 14, textLength: textWidth(text), lengthAdjust: 'spacingAndGlyphs' }
  return element('text', place, [xmlText(text)])
}

/** The contrast of every text that can be seen in a page, after WCAG 2. Runs inside the page. */

export interface LowContrastText {
  readonly text: string
  readonly ratio: number
  readonly color: string
  readonly ground: string
}

/** Texts below 4.5:1, or 3:1 where they are large; and how many were looked at. */
export function lowContrastTexts(): { seen: number; faint: LowContrastText[] } {
  type Rgb = [number, number, number]
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const over = (color: string, below: Rgb): Rgb => {
    context.fillStyle = `rgb(${below.join(' ')})`
    context.fillRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data
    return [r!, g!, b!]
  }
  const groundOf = (element: Element): Rgb => {
    const above = element.parentElement
    const below: Rgb = above === null ? [255, 255, 255] : groundOf(above)
    return over(getComputedStyle(element).backgroundColor, below)
  }
  const linear = (part: number) => (part <= 10.31 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]: Rgb) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const ratioOf = (a: Rgb, b: Rgb) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y) as [number, number]
    return (high + 0.05) / (low + 0.05)
  }
  const ownText = (element: Element) =>
    [...element.childNodes]
      .filter(({ nodeType }) => nodeType === 3)
      .map(({ textContent }) => textContent!.trim())
      .join('')

  const shown = [...document.querySelectorAll('body *')].filter(
    element =>
      ownText(element) !== '' && element.checkVisibility() && !/^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName),
  )
  const faint: LowContrastText[] = []
  for (const element of shown) {
    const { color, fontSize } = getComputedStyle(element)
    const ground = groundOf(element)
    const ratio = ratioOf(over(color, ground), ground)
    if (ratio < (Number.parseFloat(fontSize) >= 24 ? 3 : 4.5))
      faint.push({
        text: ownText(element).slice(0, 40),
        ratio: Math.round(ratio * 100) / 100,
        color,
        ground: ground.join(' '),
      })
  }
  return { seen: shown.length, faint }
}

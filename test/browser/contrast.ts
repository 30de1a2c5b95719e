/** Measures the contrast of every visible text of a page as WCAG 2 defines it. Runs inside the page. */

export interface LowContrastText {
  readonly text: string
  readonly ratio: number
  readonly color: string
  readonly background: string
}

/** Returns the texts below 4.5:1 (large text: 3:1) and the number of texts measured. */
export function lowContrastTexts(): { measured: number; failing: LowContrastText[] } {
  type Rgb = [number, number, number]
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const mixed = new Map<string, Rgb>()
  const over = (color: string, below: Rgb): Rgb => {
    const key = `${color} over ${below}`
    const found = mixed.get(key) ?? mix(color, below)
    mixed.set(key, found)
    return found
  }
  const mix = (color: string, below: Rgb): Rgb => {
    context.fillStyle = `rgb(${below.join(' ')})`
    context.fillRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data
    return [r!, g!, b!]
  }
  const backgrounds = new Map<Element, Rgb>()
  const backgroundOf = (element: Element): Rgb => {
    const known = backgrounds.get(element)
    if (known !== undefined) return known
    const above = element.parentElement
    const below: Rgb = above === null ? [255, 255, 255] : backgroundOf(above)
    const found = over(getComputedStyle(element).backgroundColor, below)
    backgrounds.set(element, found)
    return found
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

  const visible = [...document.querySelectorAll('body *')].filter(
    element =>
      ownText(element) !== '' && element.checkVisibility() && !/^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName),
  )
  const failing: LowContrastText[] = []
  for (const element of visible) {
    const { color, fontSize } = getComputedStyle(element)
    const background = backgroundOf(element)
    const ratio = ratioOf(over(color, background), background)
    if (ratio < (Number.parseFloat(fontSize) >= 24 ? 3 : 4.5))
      failing.push({
        text: ownText(element).slice(0, 40),
        ratio: Math.round(ratio * 100) / 100,
        color,
        background: background.join(' '),
      })
  }
  return { measured: visible.length, failing }
}

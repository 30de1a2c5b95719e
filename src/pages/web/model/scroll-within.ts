/** Scrolls a box so that an element in it is visible, and leaves the page where it is. */
export function scrollWithin(box: Element | null, element: Element | null | undefined, toMiddle = false): void {
  if (box === null || element === null || element === undefined) return
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()]
  const isVisible = inner.top >= outer.top && inner.bottom <= outer.bottom
  if (toMiddle) {
    if (!isVisible) box.scrollTop += inner.top - outer.top - Math.max(0, (outer.height - inner.height) / 2)
  } else if (inner.top < outer.top) box.scrollTop += inner.top - outer.top
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom
}

/** Finds elements that every report page has, and handles clicks on some elements. */

/** Returns the first element that matches. Throws when the page has none. */
export function query<E extends Element = HTMLElement>(selector: string, root: ParentNode = document): E {
  return found(root.querySelector<E>(selector), selector)
}

/** Returns the nearest element around `element` that matches. Throws when there is none. */
export function around<E extends Element = HTMLElement>(element: Element, selector: string): E {
  return found(element.closest<E>(selector), selector)
}

function found<E>(element: E | null, selector: string): E {
  if (element === null) throw new Error(`The page has no ${selector}.`)
  return element
}

/** Calls `handle` with the matching element around each click. */
export function onClick<E extends HTMLElement = HTMLElement>(
  selector: string,
  handle: (element: E) => void,
  root: HTMLElement | Document = document,
): void {
  root.addEventListener('click', ({ target }) => {
    const element = target instanceof Element ? target.closest<E>(selector) : null
    if (element !== null) handle(element)
  })
}

export const showStatus = (text: string): void => {
  query('#status').textContent = text
}

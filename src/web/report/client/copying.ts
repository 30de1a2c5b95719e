/** Buttons that copy a command. */

export function startCopying(): void {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('[data-copy]')
    if (button !== null) copy(button)
  })
}

async function copy(button: HTMLElement): Promise<void> {
  const done = await navigator.clipboard.writeText(button.dataset.copy!).then(
    () => true,
    () => copySelected(button),
  )
  button.textContent = done ? 'Copied' : 'Press Ctrl+C'
  document.querySelector('#said')!.textContent = done ? 'Copied' : 'Selected, press Ctrl+C to copy'
  for (const event of ['blur', 'pointerleave'])
    button.addEventListener(event, () => (button.textContent = 'Copy'), { once: true })
}

/** Where the clipboard may not be written to: the text is selected, ready for the key. */
function copySelected(button: HTMLElement): boolean {
  getSelection()!.selectAllChildren(button.previousElementSibling!)
  return document.execCommand('copy')
}

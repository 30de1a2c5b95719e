/**
 * Cuts a text to at most `longest` characters. Whatever shortens a text that may have a secret ends it with an
 * ellipsis: there, a redactor finds the part of a secret that is left.
 */
export const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text

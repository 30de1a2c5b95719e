/** Converts between base64 and hexadecimal on every runtime. */

export const hexToBase64 = (hex: string): string =>
  btoa(hex.replace(/../g, pair => String.fromCharCode(Number.parseInt(pair, 16))))

export const base64ToHex = (base64: string): string =>
  [...atob(base64)].map(char => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')

/** Base64 as the API server reads values of format `byte`: standard alphabet, with padding, line ends ignored. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  const packed = text.replaceAll(/[\n\r]/g, "")
  const isValid = packed.length % 4 === 0 && /^[\d+/A-Za-z]*={0,2}$/.test(packed)
  return isValid ? Uint8Array.from(atob(packed), (unit) => unit.charCodeAt(0)) : undefined
}

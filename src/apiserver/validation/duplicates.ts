/**
 * Finds duplicate members in JSON text, which JSON.parse silently resolves to the last one. Iterative, so that deep nesting
 * cannot overflow the stack.
 */

interface Frame {
  readonly path: string
  /** Names of the members so far; undefined for a list. */
  readonly keys: Set<string> | undefined
  key: string
  index: number
  /** Whether the next string is the name of a member. */
  naming: boolean
}

const frame = (path: string, isObject: boolean): Frame => ({
  path,
  keys: isObject ? new Set() : undefined,
  key: "",
  index: 0,
  naming: isObject
})

const pathOf = (top: Frame | undefined): string => {
  if (top === undefined) return ""
  if (top.keys === undefined) return `${top.path}[${top.index}]`
  return top.path === "" ? top.key : `${top.path}.${top.key}`
}

/** Paths of the duplicate members of valid JSON text, in the order of the text. */
export const find = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const stack: Array<Frame> = []
  let top: Frame | undefined
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at)
        if (top?.naming === true) {
          top.key = JSON.parse(text.slice(at, end)) as string
          if (top.keys?.has(top.key) === true) found.push(pathOf(top))
          top.keys?.add(top.key)
          top.naming = false
        }
        at = end - 1
        break
      }
      case "{":
      case "[":
        top = frame(pathOf(top), text[at] === "{")
        stack.push(top)
        break
      case "}":
      case "]":
        stack.pop()
        top = stack[stack.length - 1]
        break
      case ",":
        if (top !== undefined) {
          top.index++
          top.naming = top.keys !== undefined
        }
        break
      default:
    }
  }
  return found
}

/** Index after the closing quote. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

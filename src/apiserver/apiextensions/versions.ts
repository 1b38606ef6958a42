/**
 * Which version of a group clients are to prefer: released before beta before alpha, the later before the earlier, and names of another
 * form after all of these. Source: apimachinery version.CompareKubeAwareVersionStrings.
 */

const form = /^v(\d+)(?:(alpha|beta)(\d+))?$/

/** Below zero when the first is preferred. */
export const compare = (a: string, b: string): number => {
  const [left, right] = [form.exec(a), form.exec(b)]
  if (left === null || right === null) {
    if (left !== null || right !== null) return left === null ? 1 : -1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return (
    stability(right[2]) - stability(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}

const stability = (text: string | undefined): number => (text === undefined ? 2 : text === "beta" ? 1 : 0)

/** One sentence for several errors: that of the only one, or all of them in brackets, each once. apimachinery `util/errors`: aggregate. */
export const aggregate = (messages: ReadonlyArray<string>): string => {
  const [first = "", ...others] = new Set(messages)
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`
}

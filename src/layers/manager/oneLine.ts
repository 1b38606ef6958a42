/** Whatever a user typed or a server said, it does not break the line that it is shown in. Pure. */
export const oneLine = (text: string): string =>
  text
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")

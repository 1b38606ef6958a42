/** Whatever a user typed or a server said, it neither breaks the line that it is shown in nor gives the terminal orders. Pure. */
import { printable } from "../kube/printable.ts"

export const oneLine = (text: string): string =>
  printable(
    text
      .split(/[\r\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join(" ")
  )

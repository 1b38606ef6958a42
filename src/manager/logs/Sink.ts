/**
 * Where lines go: a stream that may be slow, or gone. Lines that it has not taken yet are kept up to a bound; beyond it they are
 * lost, and counted, and the first line that fits again is preceded by how many. Writing never waits and never fails. What a terminal would take
 * for orders is shown and not passed on.
 */
import { printable } from "../../kube/printable.ts"
import type { Output } from "../process/Host.ts"

/** Characters that may wait for a slow reader. */
const most = 1024 * 1024

export class Sink {
  /** Since the last line that was written. */
  private lost = 0
  private readonly output: Output

  constructor(output: Output) {
    this.output = output
  }

  /** `notice`: the line that says how many were lost. */
  write(line: string, notice: (lost: number) => string): void {
    // Half the bound before it goes on, or a reader that takes a line now and then would get a notice with each.
    if ((this.output.writableLength ?? 0) > (this.lost === 0 ? most : most / 2)) {
      this.lost++
      return
    }
    if (this.lost > 0) this.output.write(`${notice(this.lost)}\n`)
    this.lost = 0
    this.output.write(`${printable(line)}\n`)
  }
}

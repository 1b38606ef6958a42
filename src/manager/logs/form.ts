/**
 * Which form lines have. Where nobody has said, it follows from the cluster: people watch the embedded one, collectors read what comes
 * from the others; so it is settled when the cluster is found, which is before anything is said of it.
 */
import * as Context from "effect/Context"

export type Form = "json" | "console"

export class Choice {
  private readonly asked: Form | undefined
  private settled: Form = "console"

  constructor(asked: Form | undefined) {
    this.asked = asked
  }

  get current(): Form {
    return this.asked ?? this.settled
  }

  /** The cluster is one of others. */
  onRealCluster(): void {
    this.settled = "json"
  }
}

/** Of this process. */
export const Current = Context.Reference<Choice>("effect-controller-manager/LogForm", {
  defaultValue: () => new Choice("console")
})

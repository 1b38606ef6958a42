import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Expectations from "../../../../src/controllers/shared/workload/expectations.ts"
import { checkProperty } from "../../../support/property.ts"
import { runs } from "../../../support/runs.ts"

const Owner = Schema.Literals(["ns/a", "ns/b"])
const Pod = Schema.Literals(["ns/p", "ns/q", "ns/r"])

const Operation = Schema.Union([
  Schema.TaggedStruct("Create", { owner: Owner, count: Schema.Literals([0, 1, 2, 3]) }),
  Schema.TaggedStruct("Delete", { owner: Owner, pods: Schema.Array(Pod).check(Schema.isMaxLength(4)) }),
  Schema.TaggedStruct("Both", {
    owner: Owner,
    count: Schema.Literals([0, 1, 2]),
    pods: Schema.Array(Pod).check(Schema.isMaxLength(2))
  }),
  Schema.TaggedStruct("Created", { owner: Owner }),
  Schema.TaggedStruct("Deleted", { owner: Owner, pod: Pod }),
  Schema.TaggedStruct("Forget", { owner: Owner }),
  Schema.TaggedStruct("Pass", { seconds: Schema.Literals([1, 60, 240]) })
])

type Operation = typeof Operation.Type

/** Reference model: what was requested and not observed yet, in a list, since when. */
interface Model {
  readonly since: number
  readonly missing: ReadonlyArray<string>
}

const without = (missing: ReadonlyArray<string>, what: string): ReadonlyArray<string> => {
  const at = missing.indexOf(what)
  return at === -1 ? missing : missing.filter((_, i) => i !== at)
}

const next = (before: Model | undefined, operation: Operation, now: number): Model | undefined => {
  switch (operation._tag) {
    case "Create":
      return { since: now, missing: Array.from({ length: operation.count }, () => "a creation") }
    case "Delete":
      return { since: now, missing: operation.pods.filter((pod, i, pods) => pods.indexOf(pod) === i) }
    case "Both":
      return {
        since: now,
        missing: [
          ...Array.from({ length: operation.count }, () => "a creation"),
          ...operation.pods.filter((pod, i, pods) => pods.indexOf(pod) === i)
        ]
      }
    case "Created":
      return before && { ...before, missing: without(before.missing, "a creation") }
    case "Deleted":
      return before && { ...before, missing: without(before.missing, operation.pod) }
    case "Forget":
      return undefined
    case "Pass":
      return before
  }
}

const act = (expectations: Expectations.Expectations, operation: Operation, now: number): void => {
  switch (operation._tag) {
    case "Create":
      return expectations.expectCreations(operation.owner, operation.count, now)
    case "Delete":
      return expectations.expectDeletions(operation.owner, operation.pods, now)
    case "Both":
      return expectations.expectBoth(operation.owner, operation.count, operation.pods, now)
    case "Created":
      return expectations.creationObserved(operation.owner)
    case "Deleted":
      return expectations.deletionObserved(operation.owner, operation.pod)
    case "Forget":
      return expectations.forget(operation.owner)
    case "Pass":
      return
  }
}

/** After every operation each owner waits exactly as long as the model says. */
const agrees = (operations: ReadonlyArray<Operation>): boolean => {
  const expectations = Expectations.make()
  const models = new Map<string, Model | undefined>()
  let now = 0
  for (const operation of operations) {
    if (operation._tag === "Pass") now += operation.seconds * 1000
    else models.set(operation.owner, next(models.get(operation.owner), operation, now))
    act(expectations, operation, now)
    for (const owner of ["ns/a", "ns/b"]) {
      const { missing, since } = models.get(owner) ?? { missing: [], since: 0 }
      const wait = missing.length === 0 ? 0 : Math.max(0, since + 5 * 60 * 1000 - now)
      if (expectations.wait(owner, now) !== wait) return false
    }
  }
  return true
}

describe("expectations", () => {
  checkProperty(
    "block an owner while something is missing, for at most five minutes",
    Arbitrary.array(Arbitrary.schema(Operation), { maxLength: 30 }),
    agrees,
    { size: 30, runs: runs(500) }
  )
})

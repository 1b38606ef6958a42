import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Expectations from "../../../src/controllers/workload/expectations.ts"
import { load, type Mutation } from "../../support/mutant.ts"
import { runs } from "../../support/runs.ts"

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

/** The law in plain words: what was asked for and not seen yet, in a list, since when. */
interface Law {
  readonly since: number
  readonly missing: ReadonlyArray<string>
}

const without = (missing: ReadonlyArray<string>, what: string): ReadonlyArray<string> => {
  const at = missing.indexOf(what)
  return at === -1 ? missing : missing.filter((_, i) => i !== at)
}

const law = (before: Law | undefined, operation: Operation, now: number): Law | undefined => {
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

const act = (books: Expectations.Expectations, operation: Operation, now: number): void => {
  switch (operation._tag) {
    case "Create":
      return books.expectCreations(operation.owner, operation.count, now)
    case "Delete":
      return books.expectDeletions(operation.owner, operation.pods, now)
    case "Both":
      return books.expectBoth(operation.owner, operation.count, operation.pods, now)
    case "Created":
      return books.creationObserved(operation.owner)
    case "Deleted":
      return books.deletionObserved(operation.owner, operation.pod)
    case "Forget":
      return books.forget(operation.owner)
    case "Pass":
      return
  }
}

/** After every operation each owner waits exactly as long as the law says. */
const agrees = (module: typeof Expectations, operations: ReadonlyArray<Operation>): boolean => {
  const books = module.make()
  const laws = new Map<string, Law | undefined>()
  let now = 0
  for (const operation of operations) {
    if (operation._tag === "Pass") now += operation.seconds * 1000
    else laws.set(operation.owner, law(laws.get(operation.owner), operation, now))
    act(books, operation, now)
    for (const owner of ["ns/a", "ns/b"]) {
      const { missing, since } = laws.get(owner) ?? { missing: [], since: 0 }
      const wait = missing.length === 0 ? 0 : Math.max(0, since + 5 * 60 * 1000 - now)
      if (books.wait(owner, now) !== wait) return false
    }
  }
  return true
}

const property = (module: typeof Expectations, options: Arbitrary.CheckOptions) =>
  Arbitrary.checkEffect(
    Arbitrary.array(Arbitrary.schema(Operation), { maxLength: 30 }),
    (operations) => agrees(module, operations),
    { size: 30, ...options }
  )

const mutants: ReadonlyArray<Mutation> = [
  {
    title: "any deletion counts, and the same one twice",
    find: "book.deletions.delete(dependent)",
    replace: "book.deletions.delete([...book.deletions][0] ?? dependent)"
  },
  {
    title: "what is missing never expires",
    find: "Math.max(0, book.since + expiry - now)",
    replace: "book.since + expiry"
  },
  {
    title: "expectations hold nobody up",
    find: "return book === undefined ? 0 :",
    replace: "return true ? 0 :"
  },
  {
    title: "a namesake inherits the books",
    find: "forget: (owner) => void books.delete(owner)",
    replace: "forget: () => undefined"
  },
  {
    title: "the books of a key are renewed without being replaced",
    find: "books.set(owner, book)",
    replace: "books.set(owner, { ...book, creations: book.creations + (books.get(owner)?.creations ?? 0) })"
  }
]

describe("expectations", () => {
  it.effect("hold an owner up while something is missing, and never longer than five minutes", () =>
    Effect.map(property(Expectations, { runs: runs(500) }), (result) =>
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    )
  )

  for (const mutant of mutants) {
    it.effect(`mutant is caught: ${mutant.title}`, () =>
      Effect.gen(function* () {
        const module = yield* Effect.promise(() =>
          load<typeof Expectations>("controllers/workload/expectations.ts", mutant)
        )
        assert.strictEqual((yield* property(module, { runs: 500, maxShrinks: 0, seed: 1 }))._tag, "Falsified")
      })
    )
  }
})

import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as AttemptToDelete from "../../src/controllers/garbagecollector/attemptToDelete.ts"
import * as AttemptToOrphan from "../../src/controllers/garbagecollector/attemptToOrphan.ts"
import * as Graph from "../../src/controllers/garbagecollector/graph.ts"
import * as World from "../controllers/garbagecollector/world.ts"
import { load, loadThrough, type Mutation } from "../support/mutant.ts"

const original: World.Modules = { graph: Graph, attemptToDelete: AttemptToDelete, attemptToOrphan: AttemptToOrphan }

const holds = (modules: World.Modules) =>
  Arbitrary.checkEffect(World.operations, (operations) => World.check(modules, operations) === undefined, {
    runs: 6000,
    maxShrinks: 0,
    seed: 1
  })

const folder = "controllers/garbagecollector"

/** The collector's parts, with a mutant in one of the modules they are made of. */
const mutant = async (file: string, mutation: Mutation): Promise<World.Modules> => {
  const path = `${folder}/${file}.ts`
  switch (file) {
    case "attemptToDelete":
      return { ...original, attemptToDelete: await load<typeof AttemptToDelete>(path, mutation) }
    case "attemptToOrphan":
      return { ...original, attemptToOrphan: await load<typeof AttemptToOrphan>(path, mutation) }
    default:
      return { ...original, graph: await loadThrough<typeof Graph>(`${folder}/graph.ts`, path, mutation) }
  }
}

const mutants: ReadonlyArray<readonly [file: string, mutation: Mutation]> = [
  [
    "graph",
    {
      title: "owners that nobody has seen are not verified",
      find: "note.toVerify.add(reference.uid)",
      replace: "note.toVerify.size"
    }
  ],
  [
    "graph",
    {
      title: "the dependents of what is gone are not examined",
      find: "for (const dependent of left) note.toDelete.add(dependent)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "nobody tells an owner that its last dependent is gone",
      find: `if (nodes.get(owner.uid)?.waitsFor === "dependents") note.toDelete.add(owner.uid)`,
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "an owner that was called wrongly does not have its dependents examined",
      find: "if (!node.observed && !Identity.isSame(node.identity, identity)) examineMistaken(identity, note)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "a doubtful reference is believed",
      find: `if (doubt !== undefined || owner.waitsFor === "dependents")`,
      replace: `if (owner.waitsFor === "dependents")`
    }
  ],
  [
    "graph",
    {
      title: "references that are gone stay in the index",
      find: "if (!owners.some((other) => other.uid === uid)) unlink(node.identity.uid, uid)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "an owner that a dependent lets go is not told",
      find: "if (References.blocks(before, uid) && !References.blocks(owners, uid) && nodes.has(uid)) note.toDelete.add(uid)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "virtual owners outlive their dependents",
      find: "if (nodes.get(owner)?.observed === false) nodes.delete(owner)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "a cycle waits for ever",
      find: "blockersOf(uid).filter((dependent) => !waitsInTurn(dependent, uid))",
      replace: "blockersOf(uid)"
    }
  ],
  [
    "graph",
    {
      title: "everybody who waits is taken for part of a cycle",
      find: "if (node.identity.uid === owner) return true",
      replace: "if (node.identity.uid !== owner) return true"
    }
  ],
  [
    "graph",
    {
      title: "a deletion that waits does not have its dependents examined",
      find: "for (const dependent of index.get(uid) ?? []) note.toDelete.add(dependent)",
      replace: ""
    }
  ],
  [
    "graph",
    {
      title: "dependents are not let go",
      find: `if (waitsFor === "orphaning") note.toOrphan.add(uid)`,
      replace: ""
    }
  ],
  [
    "references",
    {
      title: "an owner in another namespace is taken for the same",
      find: '(owner.namespace === "" || owner.namespace === namespace) && Identity.isNamedBy(owner, reference)',
      replace: "Identity.isNamedBy(owner, reference)"
    }
  ],
  [
    "references",
    {
      title: "hearsay from a cluster-scoped dependent is believed",
      find: `identity.namespace === "" && namespace !== "" && !observed ? "doubtful" : undefined`,
      replace: "undefined"
    }
  ],
  [
    "attemptToDelete",
    {
      title: "one dangling reference is enough",
      find: "if (solid.size > 0) {",
      replace: "if (solid.size === judged.length) {"
    }
  ],
  [
    "attemptToDelete",
    {
      title: "an object without owners is deleted",
      find: "if (judged.length === 0) return keep",
      replace: ""
    }
  ],
  [
    "attemptToDelete",
    {
      title: "references to what is gone stay",
      find: `lost.length === 0 ? keep : { _tag: "Strip", owners: [...new Set(lost)] }`,
      replace: "keep"
    }
  ],
  [
    "attemptToDelete",
    {
      title: "references that hold are removed too",
      find: ".filter((uid) => !solid.has(uid))",
      replace: ""
    }
  ],
  [
    "attemptToDelete",
    {
      title: "an owner that waits is as good as any",
      find: `? "waiting" : "solid"`,
      replace: `? "solid" : "solid"`
    }
  ],
  [
    "attemptToDelete",
    {
      title: "a foreground deletion does not wait",
      find: "blocking.length === 0",
      replace: "blocking.length >= 0"
    }
  ],
  [
    "attemptToDelete",
    {
      title: "an absent owner is remembered for every namespace",
      find: "absentOwners.add(clusterScoped ? global : near)",
      replace: "absentOwners.add(global)"
    }
  ],
  [
    "attemptToDelete",
    {
      title: "absence is not passed on",
      find: "if (object === undefined) return yield* absent(identity, clusterScoped)",
      replace: "if (object === undefined) return"
    }
  ],
  [
    "attemptToOrphan",
    {
      title: "the owner is let go before its dependents",
      find: "const dependents = graph.dependents(identity.uid)",
      replace: "const dependents = graph.dependents(identity.uid).slice(1)"
    }
  ]
]

describe("mutants of the garbage collector", () => {
  it.effect("the original holds", () =>
    Effect.map(holds(original), (result) => assert.strictEqual(result._tag, "Passed"))
  )
  for (const [file, mutation] of mutants) {
    it.effect(mutation.title, () =>
      Effect.gen(function* () {
        const modules = yield* Effect.promise(() => mutant(file, mutation))
        assert.strictEqual((yield* holds(modules))._tag, "Falsified")
      })
    )
  }
})

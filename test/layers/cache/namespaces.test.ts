/** A cache of some namespaces: equal to a cache of everything, filtered, whatever happens; mutants of its modules are not. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as CacheModule from "../../../src/layers/Cache.ts"
import * as Mutant from "../../support/mutant.ts"
import { runs } from "../../support/runs.ts"
import { holds, scripts } from "./namespacesModel.ts"

describe("a cache of namespaces that come and go", () => {
  it.effect.prop(
    "holds what a cache of everything holds of them, and shows each in all kinds at once or in none",
    { script: scripts },
    ({ script }) => holds(CacheModule, script),
    { arbitrary: { runs: runs(40) } }
  )
})

const namespaces = "layers/cache/informer/Namespaces.ts"
const branches = "layers/cache/informer/branches.ts"
const table = "streams/objectTable.ts"

const mutants: ReadonlyArray<readonly [path: string, mutation: Mutant.Mutation]> = [
  [
    namespaces,
    {
      title: "a namespace opens before all kinds have read it",
      find: "|| !readers.every((member) => member.isComplete(namespace))",
      replace: "|| !readers.some((member) => member.isComplete(namespace))"
    }
  ],
  [
    namespaces,
    {
      title: "a kind shows a namespace as soon as it has read it",
      find: "if (member.isSynced()) unlock([namespace])",
      replace: "if (member.isSynced()) { member.show(namespace); member.deliver() }"
    }
  ],
  [
    namespaces,
    {
      title: "a kind syncs before it has read what others show",
      find: "for (const namespace of open) if (!member.isComplete(namespace)) return",
      replace: ""
    }
  ],
  [
    namespaces,
    {
      title: "a namespace that leaves stays in the stores",
      find: "for (const member of members) member.remove(namespace)",
      replace: ""
    }
  ],
  [
    namespaces,
    {
      title: "a kind is told before the others have changed",
      find: "for (const member of readers) member.show(namespace)",
      replace: "for (const member of readers) { member.show(namespace); member.deliver() }"
    }
  ],
  [
    namespaces,
    {
      title: "nobody looks again when a kind that others waited for is gone",
      find: `members.delete(member)
        unlock([...pending])`,
      replace: "members.delete(member)"
    }
  ],
  [
    namespaces,
    {
      title: "kinds sync before it is known which namespaces are meant",
      find: "if (!known || member.isSynced()) return",
      replace: "if (member.isSynced()) return"
    }
  ],
  [
    branches,
    {
      title: "deltas of a namespace that leaves are forgotten",
      find: "stage(store.remove(namespace))",
      replace: "store.remove(namespace)"
    }
  ],
  [
    branches,
    {
      title: "a watch that has read a namespace tells nobody",
      find: 'if (change._tag === "Synced" && !part.shown',
      replace: 'if (change._tag === "Restarted" && !part.shown'
    }
  ],
  [
    table,
    {
      title: "the full state of a namespace forgets deletions",
      find: `      drop(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })`,
      replace: ""
    }
  ],
  [
    table,
    {
      title: "the full state of a namespace leaves the objects of what is gone",
      find: `      drop(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })`,
      replace: `deltas.push({ _tag: "Deleted", object, stateUnknown: true })`
    }
  ],
  [
    table,
    {
      title: "what happens to a hidden namespace is lost",
      find: "const aside = next ?? held",
      replace: "const aside = next ?? (held && new Map())"
    }
  ],
  [
    table,
    {
      title: "the full state of a namespace is that of all",
      find: "namespace === undefined ? table.swap(listed, initial)",
      replace: "namespace !== null ? table.swap(listed, initial)"
    }
  ]
]

const isNoticed = Effect.fnUntraced(function* (path: string, mutation: Mutant.Mutation, count = 60) {
  const mutant = yield* Effect.promise(() => Mutant.loadThrough<typeof CacheModule>("layers/Cache.ts", path, mutation))
  for (const script of yield* Arbitrary.sampleEffect(scripts, { count, seed: 7 })) {
    if (Exit.isFailure(yield* Effect.exit(Effect.scoped(holds(mutant, script))))) return true
  }
  return false
})

describe("mutants of a cache of namespaces", () => {
  for (const [path, mutation] of mutants) {
    it.effect(mutation.title, () => Effect.map(isNoticed(path, mutation), (noticed) => assert.isTrue(noticed)))
  }

  it.effect("what makes no difference is not noticed", () =>
    Effect.map(
      isNoticed(
        "layers/cache/informer/resync.ts",
        { title: "another slice", find: "const slice = 500", replace: "const slice = 501" },
        20
      ),
      (noticed) => assert.isFalse(noticed)
    )
  )
})

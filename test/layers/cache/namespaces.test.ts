/** A cache of some namespaces equals a cache of all namespaces, filtered, after any sequence of operations. */
import { describe, it } from "@effect/vitest"
import { runs, seed } from "../../support/runs.ts"
import { holds, scripts } from "./namespacesModel.ts"

describe("a cache of namespaces that come and go", () => {
  it.effect.prop(
    "holds the objects that a cache of all namespaces holds, and shows each namespace in all kinds at once",
    { script: scripts },
    ({ script }) => holds(script),
    { arbitrary: { runs: runs(100), seed } }
  )
})

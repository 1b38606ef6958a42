/** A cache of some namespaces equals a cache of all namespaces, filtered, after any sequence of operations. */
import { describe, it } from "@effect/vitest"
import { runs, seed } from "../../support/runs.ts"
import { holds, scripts } from "./namespacesModel.ts"

describe("a cache of namespaces that come and go", () => {
  it.effect.prop(
    "holds what a cache of everything holds of them, and shows each in all kinds at once or in none",
    { script: scripts },
    ({ script }) => holds(script),
    { arbitrary: { runs: runs(100), seed } }
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as AttemptToDelete from "../../../src/controllers/garbagecollector/attemptToDelete.ts"
import * as AttemptToOrphan from "../../../src/controllers/garbagecollector/attemptToOrphan.ts"
import * as Graph from "../../../src/controllers/garbagecollector/graph.ts"
import * as World from "./world.ts"

const modules: World.Modules = { graph: Graph, attemptToDelete: AttemptToDelete, attemptToOrphan: AttemptToOrphan }

describe("the garbage collector over random histories", () => {
  it.prop(
    "collects what nobody owns, and nothing else",
    { operations: World.operations },
    ({ operations }) => {
      const wrong = World.check(modules, operations)
      if (wrong !== undefined) assert.fail(wrong)
    },
    { arbitrary: { runs: 1500 } }
  )
})

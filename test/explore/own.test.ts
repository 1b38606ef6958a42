/** The controllers without pods under systematic perturbation, and that no controller is forgotten. */
import { assert, describe, it } from "@effect/vitest"
import { table } from "../support/controllers.ts"
import { others, workloads } from "./own/all.ts"
import { check } from "./own/check.ts"

describe("explorations", () => {
  it("include every controller of the program", () => {
    const explored = [...workloads, ...others].flatMap(({ options }) => options.controllers.map(({ name }) => name))
    const names = table.map(({ controller }) => controller.name)
    assert.sameMembers([...new Set(explored)], names)
  })
})

check(others)

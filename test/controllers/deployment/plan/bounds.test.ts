import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Bounds from "../../../../src/controllers/deployment/plan/bounds.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet } from "../objects.ts"

/** A number or a percentage. */
const share = Arbitrary.all({ amount: oneOf(0, 1, 2, 7, 10, 25, 33, 66, 100), isShare: oneOf(true, false) }).pipe(
  Arbitrary.map(({ amount, isShare }) => (isShare ? `${amount}%` : amount))
)

const given = Arbitrary.all({
  replicas: int(0, 50),
  surge: share,
  unavailable: share,
  strategy: oneOf("RollingUpdate", "RollingUpdate", "RollingUpdate", "Recreate")
})

/** Hundredths of a pod. */
const exact = (value: number | string, replicas: number): number =>
  typeof value === "number" ? value * 100 : Number(value.slice(0, -1)) * replicas

describe("Bounds", () => {
  checkProperty("surge is rounded up", given, (facts) => {
    const { maxSurge, maxTotal, replicas } = Bounds.of(deployment(facts))
    const over = maxSurge * 100 - exact(facts.surge, facts.replicas)
    if (replicas !== facts.replicas || maxTotal !== replicas + maxSurge) return false
    return facts.strategy === "Recreate" ? maxSurge === 0 : over >= 0 && over < 100
  })

  checkProperty("unavailability is rounded down, and never more than all", given, (facts) => {
    const { maxSurge, maxUnavailable, minAvailable, replicas } = Bounds.of(deployment(facts))
    if (minAvailable !== replicas - maxUnavailable) return false
    if (facts.strategy === "Recreate" || replicas === 0) return maxUnavailable === 0
    const asked = Math.floor(exact(facts.unavailable, replicas) / 100)
    return maxUnavailable === Math.min(replicas, asked === 0 && maxSurge === 0 ? 1 : asked)
  })

  checkProperty("a rolling update can always take a step", given, (facts) => {
    const { maxSurge, maxUnavailable } = Bounds.of(deployment(facts))
    return facts.strategy === "Recreate" || facts.replicas === 0 || maxSurge + maxUnavailable > 0
  })

  checkProperty(
    "the new set grows as far as the bounds allow, and no further than its replicas",
    Arbitrary.all({ facts: given, current: int(0, 60), others: Arbitrary.array(int(0, 30), { maxLength: 3 }) }),
    ({ current, facts, others }) => {
      const { maxTotal, replicas } = Bounds.of(deployment(facts))
      const sets = others.map((size) => replicaSet({ size }))
      const size = Bounds.sizeOfNew(deployment(facts), current, sets)
      if (facts.strategy === "Recreate") return size === replicas
      const total = size + others.reduce((a, b) => a + b, 0)
      if (size < current || (size > current && (size > replicas || total > maxTotal))) return false
      return size >= replicas || total >= maxTotal
    }
  )
})

describe("bounds", () => {
  it("have the server's defaults", () => {
    const at = (replicas: number) => {
      const { maxSurge, maxUnavailable } = Bounds.of(deployment({ replicas, surge: "25%", unavailable: "25%" }))
      return [maxSurge, maxUnavailable]
    }
    assert.deepStrictEqual(
      [at(0), at(1), at(2), at(3), at(4), at(10)],
      [
        [0, 0],
        [1, 0],
        [1, 0],
        [1, 0],
        [1, 1],
        [3, 2]
      ]
    )
  })

  it("take values that cannot be parsed as zero", () => {
    assert.deepInclude(Bounds.of(deployment({ surge: "many", unavailable: "few" })), { maxSurge: 0, maxUnavailable: 1 })
  })
})

import { describe } from "@effect/vitest"
/** Stale DisruptionTarget conditions, compared with the rules. */
import * as Arbitrary from "effect/Arbitrary"
import * as Stale from "../../../src/controllers/disruption/stale.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, oneOf, type ValueOf } from "../../support/property.ts"
const cases = Arbitrary.all({
  status: oneOf("True", "True", "False", "Unknown"),
  type: oneOf("DisruptionTarget", "DisruptionTarget", "Ready"),
  reason: oneOf("EvictionByEvictionAPI", "PreemptionByScheduler", "TerminationByKubelet", "DeletionByTaintManager"),
  phase: oneOf("Pending", "Running", "Succeeded", "Failed"),
  going: oneOf(false, false, true),
  since: oneOf(-1, 0, 1_000, 300_000)
})

type Case = ValueOf<typeof cases>

const podOf = ({ going, phase, reason, since, status, type }: Case): Pod => ({
  metadata: {
    name: "p",
    namespace: "ns",
    uid: "u",
    resourceVersion: "7",
    generation: 2,
    ...(going ? { deletionTimestamp: Time.format(0) } : {})
  },
  status: {
    phase,
    conditions: [
      { type, status, reason, message: "m", ...(since === -1 ? {} : { lastTransitionTime: Time.format(since) }) }
    ]
  }
})

const isStale = ({ going, phase, reason, status, type }: Case): boolean =>
  !going &&
  (phase === "Pending" || phase === "Running") &&
  type === "DisruptionTarget" &&
  status === "True" &&
  reason !== "TerminationByKubelet"

describe("Stale", () => {
  checkProperty("a condition on a pod that is not deleted is due after two minutes", cases, (given) => {
    const found = Stale.due(podOf(given))
    if (!isStale(given)) return found === undefined
    return found === (given.since === -1 ? -Infinity : given.since + 120_000)
  })

  checkProperty(
    "the reset sets only the condition to False, with uid and resourceVersion as preconditions",
    cases,
    (given) => {
      const wanted = {
        metadata: { uid: "u", resourceVersion: "7" },
        status: {
          conditions: [
            {
              type: "DisruptionTarget",
              status: "False",
              reason: null,
              message: null,
              lastTransitionTime: Time.format(500_000),
              observedGeneration: 2
            }
          ]
        }
      }
      return JSON.stringify(Stale.reset(podOf(given), 500_000).body) === JSON.stringify(wanted)
    }
  )
})

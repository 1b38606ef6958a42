import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import * as Health from "../../../src/controllers/nodelifecycle/health.ts"
import type { Lease, Node } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"
const grace = { grace: 50_000, startupGrace: 60_000 }

/** One observation: seconds after the previous one, of a node with any clock. */
const visits = Arbitrary.array(
  Arbitrary.all({
    after: oneOf(0, 1, 5, 10, 30, 49, 51, 59, 61),
    heartbeat: oneOf("none", "same", "1999-01-01T00:00:00Z", "2040-01-01T00:00:00Z"),
    renewal: oneOf("none", "same", "1980-01-01T00:00:00.000000Z", "2050-01-01T00:00:00.000000Z"),
    uid: oneOf("a", "a", "a", "a", "b")
  }),
  { minLength: 1, maxLength: 12 }
)

const nodeOf = (uid: string, heartbeat: string | undefined): Node => ({
  metadata: { name: "n", uid, creationTimestamp: "2001-01-01T00:00:00Z" },
  spec: {},
  status:
    heartbeat === undefined
      ? {}
      : { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: heartbeat, lastTransitionTime: heartbeat }] }
})

const leaseOf = (renewTime: string | undefined): Lease | undefined =>
  renewTime === undefined ? undefined : { metadata: { name: "n" }, spec: { renewTime } }
const types = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Special"] as const

const conditions = Arbitrary.array(
  Arbitrary.schema(
    Schema.Struct({ type: Schema.Literals(types), status: Schema.Literals(["True", "False", "Unknown"]) })
  ),
  { maxLength: 6 }
)

const reported = types.slice(0, 4)
const steps = Arbitrary.array(int(-3, 40), { maxLength: 12 })
describe("Health", () => {
  checkProperty(
    "a node is overdue when no new heartbeat was observed for its grace period, whatever the time of its clock",
    visits,
    (history) => {
      let last: Health.Heartbeat | undefined
      let now = 0
      let at = 0
      let known: { uid: string; heartbeat: string | undefined; renewal: string | undefined } | undefined
      return history.every((visit) => {
        now += visit.after * 1000
        const heartbeat =
          visit.heartbeat === "same" ? known?.heartbeat : visit.heartbeat === "none" ? undefined : visit.heartbeat
        const renewal = visit.renewal === "same" ? known?.renewal : visit.renewal === "none" ? undefined : visit.renewal
        const isNew = known === undefined || known.uid !== visit.uid
        if (isNew || heartbeat !== known?.heartbeat || (renewal !== undefined && renewal !== known?.renewal)) at = now
        // A lease that is missing for a while and returns unchanged is not a renewal.
        known = { uid: visit.uid, heartbeat, renewal: renewal ?? (isNew ? undefined : known?.renewal) }
        const node = nodeOf(visit.uid, heartbeat)
        last = Health.observe(last, node, leaseOf(renewal), now)
        const given = heartbeat === undefined ? 60_000 : 50_000
        return Health.isOverdue(node, last, grace, now) === now - at > given
      })
    }
  )

  checkProperty(
    "a node without heartbeats gets four Unknown conditions, keeps the others, and is not written twice",
    conditions,
    (all) => {
      const before = all
        .filter(({ type }, i) => all.findIndex((one) => one.type === type) === i)
        .map(({ status, type }) => ({
          type,
          status,
          reason: "Before",
          message: "before",
          lastHeartbeatTime: "2002-01-01T00:00:00Z",
          lastTransitionTime: "2003-01-01T00:00:00Z"
        }))
      const node: Node = { ...nodeOf("a", undefined), status: { conditions: before } }
      const after = Health.unknownConditions(node, 9_000)
      const ready = before.find(({ type }) => type === "Ready")
      if (ready?.status === "Unknown") return after === undefined
      if (after === undefined) return false
      const old = before.map((one) =>
        !reported.includes(one.type) || one.status === "Unknown"
          ? one
          : {
              ...one,
              status: "Unknown",
              reason: "NodeStatusUnknown",
              message: "Kubelet stopped posting node status.",
              lastTransitionTime: Time.format(9_000)
            }
      )
      const added = reported
        .filter((type) => !before.some((one) => one.type === type))
        .map((type) => ({
          type,
          status: "Unknown",
          reason: "NodeStatusNeverUpdated",
          message: "Kubelet never posted node status.",
          lastHeartbeatTime: "2001-01-01T00:00:00Z",
          lastTransitionTime: Time.format(9_000)
        }))
      return (
        isDeepStrictEqual(after, [...old, ...added]) &&
        Health.unknownConditions({ ...node, status: { conditions: [...after] } }, 20_000) === undefined
      )
    }
  )

  checkProperty(
    "time in which the process was suspended does not count, and no other time is left out",
    steps,
    (history) => {
      const time = Health.observedTime(10)
      let now = 1000
      let expected = 0
      return (
        time(now) === 0 &&
        history.every((step) => {
          now += step
          expected += Math.min(10, Math.max(0, step))
          return time(now) === expected
        })
      )
    }
  )
})

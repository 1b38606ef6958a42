/** The next step of a StatefulSet. Upstream: stateful_set_control.go, updateStatefulSet, processReplica and processCondemned. */
import { assert, describe, it } from "@effect/vitest"
import * as Plan from "../../../../src/controllers/statefulset/plan/plan.ts"
import * as Step from "../../../../src/controllers/statefulset/plan/step.ts"
import { claim, claiming, type Facts, snapshotOf, now, parallel, reference } from "./fixture.ts"

const written = (action: Step.Action): string => {
  switch (action._tag) {
    case "Create":
      return `create ${action.ordinal} ${action.revision.name}`
    case "Delete":
      return `delete ${action.pod.metadata.name} ${action.why}`
    default:
      return `${action._tag.toLowerCase()} ${action.ordinal}`
  }
}

/** The actions, with bars between phases; at the end, what an ordered set waits for. */
const show = (facts: Facts, atOnce = 1): string => {
  const { phases, waiting } = Plan.plan(snapshotOf(facts), atOnce)
  const shown = phases.map((actions) => actions.map(written).join(", ")).join(" | ")
  return waiting === undefined ? shown : `${shown}; ${waiting.for} ${waiting.ordinal}`
}

type Case = readonly [title: string, facts: Facts, expected: string]

const scaled = { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } }
const gone = [reference("Pod", "web-0", "uid-before")]

const groups: Readonly<Record<string, ReadonlyArray<Case>>> = {
  "an ordered set": [
    ["creates the first missing replica and nothing after it", { pods: "", replicas: 3 }, "create 0 new"],
    ["creates a missing replica between others", { pods: "r.r", replicas: 3 }, "create 1 new"],
    ["creates the next one when those before are available", { pods: "rr", replicas: 4 }, "create 2 new"],
    ["waits for an unready replica", { pods: "ru", replicas: 4 }, "; unready 1"],
    ["waits for a pending replica", { pods: "rp", replicas: 4 }, "; unready 1"],
    ["waits for a replica that is being deleted", { pods: "rtr", replicas: 4 }, "; terminating 1"],
    [
      "waits for a replica that is not ready for minReadySeconds",
      { pods: "rr", replicas: 4, readySince: 95, spec: { minReadySeconds: 10 } },
      "; unavailable 0"
    ],
    [
      "does not wait once minReadySeconds are over",
      { pods: "rr", replicas: 3, readySince: 90, spec: { minReadySeconds: 10 } },
      "create 2 new"
    ],
    ["deletes a failed replica and waits for it", { pods: "rfr", replicas: 4 }, "delete web-1 ended; ended 1"],
    ["deletes a succeeded replica and waits for it", { pods: "sr", replicas: 2 }, "delete web-0 ended; ended 0"],
    ["waits for an ended replica that is being deleted", { pods: "er", replicas: 2 }, "; ended 0"],
    ["deletes the highest surplus replica", { pods: "rrrr", replicas: 2 }, " |  | delete web-3 surplus"],
    ["deletes no surplus replica before the others are available", { pods: "rurr", replicas: 2 }, "; unready 1"],
    ["waits for a surplus replica that is being deleted", { pods: "rrrt", replicas: 2 }, " |  | ; terminating 3"],
    ["waits for an unready surplus replica above another one", { pods: "rruu", replicas: 2 }, " |  | ; unready 3"],
    [
      "waits for a surplus replica that is not available yet above another one",
      { pods: "..rr", replicas: 0, readySince: 95, spec: { minReadySeconds: 10 } },
      " |  | ; unavailable 3"
    ],
    [
      "waits for a surplus replica that is being deleted above an unready one",
      { pods: "rruT", replicas: 2 },
      " |  | ; terminating 3"
    ],
    ["deletes the last unready surplus replica", { pods: "rrru", replicas: 2 }, " |  | delete web-3 surplus"],
    ["deletes a surplus replica that has ended", { pods: "rruf", replicas: 2 }, " |  | delete web-3 surplus"],
    ["does nothing when all replicas are available and new", { pods: "rrr", replicas: 3 }, " |  |  | "],
    ["replaces the highest old replica", { pods: "RRr", replicas: 3 }, " |  |  | delete web-1 outdated"],
    [
      "counts places from the first ordinal",
      { pods: "rr", replicas: 2, spec: { ordinals: { start: 1 } } },
      "create 2 new"
    ],
    [
      "deletes replicas below its first ordinal",
      { pods: "rrr", replicas: 2, spec: { ordinals: { start: 1 } } },
      " |  | delete web-0 surplus"
    ],
    [
      "does nothing when it is being deleted",
      { pods: "f.r", replicas: 2, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
      ""
    ]
  ],

  "a parallel set": [
    [
      "creates all missing replicas",
      { pods: ".r", replicas: 4, spec: parallel },
      "create 0 new, create 2 new, create 3 new |  |  | "
    ],
    ["waits for no replica", { pods: "upt.", replicas: 4, spec: parallel }, "create 3 new |  |  | "],
    [
      "replaces, creates and deletes pods in one step",
      { pods: "fe.rrtu", replicas: 3, spec: parallel },
      "delete web-0 ended, create 2 new |  | delete web-6 surplus, delete web-4 surplus, delete web-3 surplus | "
    ],
    ["replaces the highest old replica", { pods: "RR", replicas: 2, spec: parallel }, " |  |  | delete web-1 outdated"]
  ],

  "the revision of a new replica": [
    [
      "is the old one below the partition",
      { pods: "", replicas: 1, spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
      "create 0 old"
    ],
    [
      "is the new one from the partition on",
      { pods: "R", replicas: 2, spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } },
      "create 1 new"
    ],
    [
      "counts the partition from the first ordinal",
      {
        pods: "..",
        replicas: 2,
        spec: { ...parallel, ordinals: { start: 5 }, updateStrategy: { rollingUpdate: { partition: 1 } } }
      },
      "create 5 old, create 6 new |  |  | "
    ],
    [
      "without a partition is the old one for the currentReplicas of the status",
      { pods: "", replicas: 2, spec: parallel, status: { currentReplicas: 1 } },
      "create 0 old, create 1 new |  |  | "
    ],
    [
      "is the new one with OnDelete",
      { pods: "", replicas: 1, spec: { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } } },
      "create 0 new"
    ]
  ],

  "the storage of a replica": [
    ["is created while the pod is pending", { pods: "p", replicas: 1, spec: claiming() }, "createclaims 0; unready 0"],
    [
      "is created for a pending pod that is being deleted",
      { pods: "d", replicas: 1, spec: claiming() },
      "createclaims 0; terminating 0"
    ],
    ["is created once", { pods: "p", replicas: 1, spec: claiming(), claims: [claim(0)] }, "; unready 0"],
    ["is not created when the pod has started", { pods: "u", replicas: 1, spec: claiming() }, "; unready 0"],
    [
      "is created in a parallel set",
      { pods: "p", replicas: 1, spec: { ...claiming(), ...parallel } },
      "createclaims 0 |  |  | "
    ],
    [
      "gets its owner while the pod is pending",
      { pods: "p", replicas: 1, spec: claiming({ whenDeleted: "Delete" }), claims: [claim(0)] },
      "createclaims 0; unready 0"
    ],
    [
      "gets its owner when the pod is available",
      { pods: "r", replicas: 1, spec: claiming({ whenDeleted: "Delete" }), claims: [claim(0)] },
      "update 0 |  |  | "
    ],
    [
      "blocks the creation of a replica while a claim is deleted with its former pod",
      { pods: "", replicas: 1, spec: { ...claiming(), ...scaled }, claims: [claim(0, { ownerReferences: gone })] },
      "; claims 0"
    ],
    [
      "is owned by a surplus replica before that is deleted",
      { pods: "rr", replicas: 1, spec: { ...claiming(), ...scaled }, claims: [claim(0), claim(1)] },
      " | updateclaims 1 | delete web-1 surplus"
    ]
  ]
}

describe("the next step of a StatefulSet", () => {
  for (const [subject, cases] of Object.entries(groups))
    for (const [title, facts, expected] of cases)
      it(`${subject} ${title}`, () => assert.strictEqual(show(facts), expected))
})

describe("a pod with a wrong label or wrong volumes", () => {
  const facts = { pods: "r", replicas: 1, spec: claiming(), claims: [claim(0)] }

  it("is updated in its name label and its volumes", () => {
    assert.strictEqual(show(facts), " |  |  | ")
    const unlabelled: Facts["change"] = (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { "controller-revision-hash": "new" } }
    })
    assert.strictEqual(show({ ...facts, change: unlabelled }), "update 0 |  |  | ")
    assert.strictEqual(show({ ...facts, change: (pod) => ({ ...pod, spec: { containers: [] } }) }), "update 0 |  |  | ")
  })

  it("gets missing claims if it has not started, or if its volumes are wrong", () => {
    const missing = (pods: string, hasVolumes: boolean) => {
      const step = Plan.plan(
        snapshotOf({
          pods,
          replicas: 1,
          spec: { ...claiming(), ...parallel },
          change: (pod) => ({
            ...pod,
            metadata: { ...pod.metadata, labels: { "controller-revision-hash": "new" } },
            ...(hasVolumes ? {} : { spec: { containers: [] } })
          })
        }),
        1
      )
      return Step.actions(step).map((action) => [action._tag, "storage" in action && action.storage.missing.length])
    }
    assert.deepStrictEqual(missing("r", true), [["Update", 0]])
    assert.deepStrictEqual(missing("r", false), [["Update", 1]])
    assert.deepStrictEqual(missing("p", true), [["Update", 1]])
  })

  it("uses no claim that is being deleted, if it has not started", () => {
    const leaving = [claim(0, { deletionTimestamp: "2026-01-01T00:00:00Z" })]
    const [action] = Step.actions(Plan.plan(snapshotOf({ ...facts, pods: "", claims: leaving }), 1))
    assert.deepStrictEqual(action?._tag === "Create" && action.storage.going, ["data-web-0"])
    const unlabelled: Facts["change"] = (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { "controller-revision-hash": "new" } }
    })
    const going = ["p", "r"].map((pods) => {
      const all = Plan.plan(
        snapshotOf({ ...facts, pods, spec: { ...claiming(), ...parallel }, claims: leaving, change: unlabelled }),
        1
      )
      return Step.actions(all).map((one) => one._tag === "Update" && one.storage.going)
    })
    assert.deepStrictEqual(going, [[["data-web-0"]], [[]]])
  })
})

describe("the snapshot and the step of a StatefulSet", () => {
  it("has the pods whose names end in an ordinal", () => {
    const names = ["web-0", "web", "web-x", "web-2147483648", "web-00", "web-1"]
    const pods = names.map((name) => ({ metadata: { name }, status: { phase: "Running" } }))
    let i = 0
    const facts = {
      pods: "rrrrrr",
      replicas: 1,
      spec: parallel,
      change: () => pods[i++] ?? assert.fail("too many pods")
    }
    const { condemned, places } = snapshotOf(facts)
    assert.deepStrictEqual(
      places.map(({ ordinal, pod }) => [ordinal, pod?.metadata.name]),
      [[0, "web-0"]]
    )
    assert.deepStrictEqual(
      condemned.map(({ ordinal, pod }) => [ordinal, pod.metadata.name]),
      [
        [1, "web-1"],
        [0, "web-00"]
      ]
    )
  })

  it("has the deleted pods and the revisions of new ones for the status", () => {
    const step = Plan.plan(snapshotOf({ pods: "f.rr", replicas: 3, spec: parallel }), 1)
    const { gone, made } = Step.outcome(step)
    assert.deepStrictEqual(
      Array.from(gone, ({ metadata }) => metadata.name),
      ["web-0", "web-3"]
    )
    assert.deepStrictEqual(made, [{ name: "new", template: {} }])
    assert.deepStrictEqual([Step.nothing.gone.size, Step.nothing.made], [0, []])
  })

  it("has the number of unavailable replicas, except with OnDelete", () => {
    const unavailable = (facts: Partial<Facts>) =>
      Plan.plan(snapshotOf({ pods: "rut.", replicas: 4, spec: parallel, ...facts }), 1).unavailable
    assert.strictEqual(unavailable({}), 3)
    assert.strictEqual(unavailable({ readySince: now / 1000, spec: { ...parallel, minReadySeconds: 1 } }), 4)
    assert.isUndefined(unavailable({ spec: { ...parallel, updateStrategy: { type: "OnDelete" } } }))
  })
})

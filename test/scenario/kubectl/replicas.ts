/** A StatefulSet from a user's view: replicas with names and claims, created in order, rolled out, stopped at a partition, rolled back, scaled down, and deleted. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { eventually, shows, type Scenario } from "./harness.ts"

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

const set = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: {
    replicas: 3,
    serviceName: "db",
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "db", image: "example.test/db:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }]
      }
    },
    volumeClaimTemplates: [claim]
  }
}

const revisionsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(\d+) /gm)].map(([, number = ""]) => number)

export const replicas: Scenario = Effect.fnUntraced(function* ({ ok, run, send }, server) {
  const rolledOut = Effect.gen(function* () {
    assert.match(
      yield* ok("rollout status sts/db --timeout=60s"),
      /(roll out complete: \d new pods have been updated|rolling update complete \d pods)/
    )
  })
  const images = Effect.map(
    ok("get pods -l app=db --sort-by=.metadata.name -o jsonpath={.items[*].spec.containers[0].image}"),
    (text) => text.split(" ").map((image) => image.slice(-1))
  )
  yield* send("create", set)
  yield* rolledOut
  assert.include(Kubectl.table(yield* ok("get sts db"))[0], { NAME: "db", READY: "3/3" })
  assert.strictEqual(yield* ok("get pods -l app=db -o name"), "pod/db-0\npod/db-1\npod/db-2\n")
  assert.strictEqual((yield* ok("get pvc -o name")).split("\n")[2], "persistentvolumeclaim/data-db-2")
  yield* shows(
    { ok },
    "describe sts db",
    /SuccessfulCreate.*Create Claim data-db-0 Pod db-0 in StatefulSet db success\n/,
    /SuccessfulCreate.*Create Pod db-2 in StatefulSet db successful\n/
  )

  yield* ok("set image sts/db db=example.test/db:2")
  yield* rolledOut
  assert.deepStrictEqual(revisionsIn(yield* ok("rollout history sts/db")), ["1", "2"])
  assert.match(yield* ok("rollout history sts/db --revision=1"), /Image:\s+example\.test\/db:1\n/)
  assert.strictEqual(yield* ok("rollout undo sts/db"), "statefulset.apps/db rolled back\n")
  yield* rolledOut
  assert.deepStrictEqual(yield* images, ["1", "1", "1"])
  assert.deepStrictEqual(revisionsIn(yield* ok("rollout history sts/db")), ["2", "3"])
  assert.match((yield* run("rollout undo sts/db --to-revision=7")).stderr, /unable to find specified revision 7/)

  yield* ok(`patch sts db -p {"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}`)
  yield* ok("set image sts/db db=example.test/db:3")
  yield* rolledOut
  assert.deepStrictEqual(yield* images, ["1", "1", "3"])
  yield* ok("delete pod db-0 db-2")
  // The status may still count the deleted pods.
  yield* eventually(
    "all pods of db are ready again",
    Effect.map(
      ok("get pods -l app=db -o jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}"),
      (text) => text === "True True True"
    )
  )
  assert.deepStrictEqual(yield* images, ["1", "1", "3"])

  yield* ok("scale sts/db --replicas=1")
  yield* ok("wait pod/db-1 --for=delete --timeout=60s")
  assert.strictEqual((yield* ok("get pvc -o name")).trim().split("\n").length, 3)
  if (server === "present") {
    const policy = `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`
    yield* ok(`patch sts db -p ${policy}`)
    yield* ok("wait pvc/data-db-0 --for=jsonpath={.metadata.ownerReferences[0].kind}=StatefulSet --timeout=60s")
    yield* ok("delete sts db")
    yield* ok("wait pvc/data-db-0 --for=delete --timeout=60s")
  } else yield* ok("delete sts db")
  yield* ok("wait pod/db-0 --for=delete --timeout=60s")
})

/** Every run of every controller has a reason: the property of the queue's causes over all controllers, on an ordinary day of a cluster. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Patch from "../../src/kube/Patch.ts"
import { Deployment, Namespace } from "../../src/kube/resources.ts"
import { CloudProvider } from "../../src/layers/CloudProvider.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Timeline } from "../../src/layers/Timeline.ts"
import * as Record from "../../src/layers/timeline/record.ts"
import { Nodes } from "../../src/simulation/Nodes.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { table } from "../support/controllers.ts"
import { others } from "./ordinary/others.ts"
import { workloads } from "./ordinary/workloads.ts"

/** Of kinds that the ordinary manifests do not have. */
const further = `
apiVersion: v1
kind: ReplicationController
metadata: { name: old }
spec:
  replicas: 1
  selector: { app: old }
  template: { metadata: { labels: { app: old } }, spec: { containers: [{ name: a, image: "a:1" }] } }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: quota }
spec: { hard: { pods: "500", configmaps: "100" } }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: budget }
spec: { minAvailable: 1, selector: { matchLabels: { app: nginx } } }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: part, labels: { all: "yes" } }
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: all }
aggregationRule: { clusterRoleSelectors: [{ matchLabels: { all: "yes" } }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: brief }
spec:
  ttlSecondsAfterFinished: 10
  activeDeadlineSeconds: 100
  template: { spec: { restartPolicy: Never, containers: [{ name: a, image: "a:1" }] } }
---
apiVersion: v1
kind: Namespace
metadata: { name: short }
---
apiVersion: v1
kind: Endpoints
metadata: { name: elsewhere }
subsets: [{ addresses: [{ ip: 10.9.9.9 }], ports: [{ port: 80 }] }]
---
apiVersion: v1
kind: Service
metadata: { name: elsewhere }
spec: { ports: [{ port: 80 }] }
---
apiVersion: v1
kind: Secret
metadata: { name: token, annotations: { kubernetes.io/service-account.name: default } }
type: kubernetes.io/service-account-token
`

describe("the runs of all controllers", () => {
  it.effect("have a reason each", () =>
    Effect.gen(function* () {
      const { begin, ...rest } = yield* Record.make(1 << 24)
      const seen = new Set<string>()
      const without = new Set<string>()
      const watched: Timeline = {
        ...rest,
        begin: (controller, resource, key, causes) => {
          seen.add(controller)
          if (causes === undefined) without.add(`${controller} ${key}`)
          return begin(controller, resource, key, causes)
        }
      }
      yield* Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const client = yield* KubeClient
        for (const { controller } of table) yield* cluster.run(controller)
        yield* cluster.advance("1 minute")
        // Two have a Service of one name, and the second is refused.
        for (const { yaml } of [...workloads, ...others]) yield* Effect.ignore(cluster.apply(yaml))
        yield* cluster.apply(further)
        yield* cluster.advance("2 minutes")
        yield* client.patch(Deployment, { namespace: "default", name: "nginx" }, Patch.merge({ spec: { replicas: 5 } }))
        yield* cluster.advance("1 minute")
        yield* client.delete(Deployment, { namespace: "default", name: "nginx" })
        yield* client.delete(Namespace, { name: "short" })
        yield* cluster.advance("5 minutes")
        // Its pods are marked, and evicted.
        yield* (yield* Nodes).stop("worker-1")
        yield* cluster.advance("10 minutes")
      }).pipe(Effect.provideService(Timeline, watched))
      assert.deepStrictEqual([...without], [])
      // The first four run on a schedule; the kinds of the others are not in this cluster.
      assert.deepStrictEqual(
        table.map(({ controller }) => controller.name).filter((name) => !seen.has(name)),
        ["podgc", "legacy-serviceaccount-token-cleaner", "cloud-node-lifecycle", "pod-count", "memcached", "ecsbinding"]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide([ClusterTest.layer({ nodes: 3 }), Logger.layer([]), CloudProvider.layerMemory(() => ({}))])
    )
  )
})

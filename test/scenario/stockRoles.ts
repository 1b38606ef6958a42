/** What a user does, through kubectl, that gives each core loop something to do; every step waits until the loop has done it. */
import * as Effect from "effect/Effect"
import type { Kubectl } from "../support/kubectl.ts"

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "a", image: "example.test/a:1" }] }
})

const workload = (apiVersion: string, kind: string, name: string, spec: object) => ({
  apiVersion,
  kind,
  metadata: { name, labels: { app: name } },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec }
})

/** The loops of workloads, and those that they depend on. */
const pods = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("create deployment web -n scenario --image=example.test/web:1 --replicas=2")
  yield* kubectl("rollout status deployment/web -n scenario --timeout=60s")
  yield* kubectl("set image deployment/web -n scenario web=example.test/web:2")
  yield* kubectl("rollout status deployment/web -n scenario --timeout=60s")
  // Orphans are adopted.
  yield* kubectl("apply -n scenario -f -", workload("apps/v1", "ReplicaSet", "kept", { replicas: 1 }))
  yield* kubectl("apply -n scenario -f -", workload("apps/v1", "Deployment", "kept", { replicas: 1 }))
  yield* kubectl("wait rs/kept -n scenario --for=jsonpath={.metadata.ownerReferences[0].name}=kept --timeout=60s")
  yield* kubectl("run orphan -n scenario --image=example.test/a:1 --labels=app=rc")
  const selector = { app: "rc" }
  yield* kubectl("apply -n scenario -f -", workload("v1", "ReplicationController", "rc", { replicas: 1, selector }))
  yield* kubectl("wait rc/rc -n scenario --for=jsonpath={.status.readyReplicas}=1 --timeout=60s")
  yield* kubectl("apply -n scenario -f -", workload("apps/v1", "DaemonSet", "ds", {}))
  yield* kubectl("rollout status ds/ds -n scenario --timeout=60s")
  yield* kubectl("set image ds/ds -n scenario a=example.test/a:2")
  yield* kubectl("rollout status ds/ds -n scenario --timeout=60s")
  yield* kubectl(
    "apply -n scenario -f -",
    workload("apps/v1", "StatefulSet", "sts", { serviceName: "sts", replicas: 2 })
  )
  yield* kubectl("rollout status sts/sts -n scenario --timeout=60s")
  yield* kubectl("create quota small -n scenario --hard=pods=50")
  yield* kubectl("wait quota/small -n scenario --for=jsonpath={.status.used.pods} --timeout=60s")
  const container = { name: "a", image: "example.test/a:1", command: ["true"] }
  const job = { ...template("job"), spec: { containers: [container], restartPolicy: "Never" } }
  yield* kubectl("apply -n scenario -f -", {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "job" },
    spec: { completions: 2, ttlSecondsAfterFinished: 1, template: job }
  })
  // The Job is deleted after its end, and its pods with it.
  yield* kubectl("wait job/job -n scenario --for=delete --timeout=60s")
})

/** The loops of Services, accounts and authorities. */
const services = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("expose deployment web -n scenario --port=80")
  // kubectl does not wait for a value in an object that is not there yet.
  yield* kubectl("wait endpoints/web -n scenario --for=create --timeout=60s")
  yield* kubectl("wait endpoints/web -n scenario --for=jsonpath={.subsets[0].ports[0].port}=80 --timeout=60s")
  yield* kubectl("wait configmap/kube-root-ca.crt -n scenario --for=create --timeout=60s")
  yield* kubectl("delete configmap kube-root-ca.crt -n scenario")
  yield* kubectl("wait configmap/kube-root-ca.crt -n scenario --for=create --timeout=60s")
  yield* kubectl("delete serviceaccount default -n scenario")
  yield* kubectl("wait serviceaccount/default -n scenario --for=create --timeout=60s")
  yield* kubectl("apply -n scenario -f -", {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/service-account-token",
    metadata: { name: "token", annotations: { "kubernetes.io/service-account.name": "default" } }
  })
  yield* kubectl("wait secret/token -n scenario --for=jsonpath={.data.token} --timeout=60s")
})

/** Objects are counted, and deleted ones no longer. */
const quotas = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("create configmap counted -n scenario")
  yield* kubectl("create quota all -n scenario --hard=configmaps=9,count/deployments.apps=9")
  yield* kubectl("wait quota/all -n scenario --for=jsonpath={.status.used.configmaps}=2 --timeout=60s")
  yield* kubectl("delete configmap counted -n scenario")
  yield* kubectl("wait quota/all -n scenario --for=jsonpath={.status.used.configmaps}=1 --timeout=60s")
})

/** A node without heartbeats, a pod on a node that does not exist, and a pod without an owner. */
const lost = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("apply -f -", { apiVersion: "v1", kind: "Node", metadata: { name: "silent" } })
  for (const [name, nodeName] of [
    ["ghost", "nowhere"],
    ["alone", "worker-1"]
  ] as const) {
    const { metadata, spec } = template(name)
    const pod = { metadata: { ...metadata, name }, spec: { ...spec, nodeName } }
    yield* kubectl("apply -n scenario -f -", { apiVersion: "v1", kind: "Pod", ...pod })
  }
})

/** The loops of nodes, and those that delete objects. */
const removals = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("wait node/silent --for=condition=Ready=Unknown --timeout=60s")
  yield* kubectl("wait pod/ghost -n scenario --for=delete --timeout=120s")
  yield* kubectl("taint node worker-1 gone=yes:NoExecute")
  yield* kubectl("wait pod/alone -n scenario --for=delete --timeout=60s")
  yield* kubectl("delete deployment web -n scenario --cascade=foreground --timeout=60s")
  yield* kubectl("delete namespace scenario --timeout=60s")
})

/** In a namespace that is deleted at the end. */
export const workloads = Effect.fnUntraced(function* (kubectl: Kubectl) {
  yield* kubectl("create namespace scenario")
  yield* kubectl("wait serviceaccount/default -n scenario --for=create --timeout=60s")
  yield* lost(kubectl)
  yield* pods(kubectl)
  yield* services(kubectl)
  yield* quotas(kubectl)
  yield* removals(kubectl)
})

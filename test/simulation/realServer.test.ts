/**
 * The simulated scheduler and kubelets in a real API server, the same code as in the embedded one: nodes are registered,
 * pods bound, started, restarted, held back and deleted, in real time, waiting only for watch events.
 */
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Lease, Node, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as PodLifecycle from "../../src/simulation/podLifecycle.ts"
import * as envtest from "../support/envtest.ts"
import * as RealServer from "../support/realServer.ts"
import { condition, create, get, patch, remove, word } from "./harness.ts"

const isMissing = envtest.isMissing("simulated nodes on a real API server")

const delays = { start: 100, stop: 100 }
const machine = Machine.make("any", 1, "worker")

const cluster = Nodes.layer({ delays }).pipe(Layer.provideMerge(RealServer.services()))

const until = (name: string, wanted: (pod: Pod | undefined) => boolean) => RealServer.until(Pod, name, wanted)

it.live.skipIf(isMissing)("the simulated scheduler and kubelets run pods on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const nodes = yield* client.list(Node)
    assert.deepStrictEqual(
      nodes.items.map(({ metadata, spec, status }) => [
        metadata.name,
        (spec?.taints ?? []).map(({ key }) => key),
        status?.conditions?.find(({ type }) => type === "Ready")?.status
      ]),
      [
        ["control-plane", ["node-role.kubernetes.io/control-plane"], "True"],
        ["worker-1", [], "True"],
        ["worker-2", [], "True"]
      ]
    )

    yield* create("web")
    yield* create("large", {
      containers: [{ name: "main", image: "i", resources: { requests: { cpu: "64" } } }]
    })
    yield* create("missing", { containers: [{ name: "main", image: "webserver:404" }] })
    yield* create("crash", { containers: [{ name: "main", image: "i", command: ["false"] }] })
    yield* create("job", {
      restartPolicy: "Never",
      initContainers: [{ name: "first", image: "i", command: ["true"] }],
      containers: [{ name: "main", image: "i", command: ["sleep", "1"] }]
    })

    yield* until("web", (pod) => pod !== undefined && condition(pod, "Ready")?.status === "True")
    const web = yield* get("web")
    // The address depends on which pod starts first.
    assert.match(web.status?.podIP ?? "", /^10\.244\.[23]\.([2-9]|\d{2,3})$/)
    assert.deepInclude(web.status?.containerStatuses?.[0], { ready: true, started: true, restartCount: 0 })
    // The fields that this server stores of a status do not make the kubelet write it again, which would never end.
    const given = { machine, delays, memory: PodLifecycle.nothingKnown, address: () => undefined, isBad: () => false }
    const there = { ...given, machine: { ...machine, name: web.spec?.nodeName ?? "" } }
    assert.isUndefined(PodLifecycle.next(web, there, yield* Clock.currentTimeMillis).status)
    yield* until("large", (pod) => pod !== undefined && condition(pod, "PodScheduled")?.reason === "Unschedulable")
    yield* until("missing", (pod) => pod !== undefined && word(pod) === "ImagePullBackOff")
    yield* until("crash", (pod) => pod !== undefined && word(pod) === "CrashLoopBackOff #1")
    yield* until("job", (pod) => pod?.status?.phase === "Succeeded")

    yield* patch("missing", { spec: { containers: [{ name: "main", image: "webserver:200" }] } })
    yield* until("missing", (pod) => pod !== undefined && word(pod) === "Running")

    for (const name of ["web", "crash", "job", "missing", "large"]) yield* remove(name)
    for (const name of ["web", "crash", "job", "missing", "large"])
      yield* Effect.raceFirst(
        until(name, (pod) => pod === undefined),
        // Deleted before the watch began.
        Effect.flatMap(Effect.result(get(name)), (found) => (found._tag === "Failure" ? Effect.void : Effect.never))
      )
    assert.deepStrictEqual((yield* client.list(Pod)).items, [])
    const leases = yield* client.list(Lease, { namespace: "kube-node-lease" })
    assert.deepStrictEqual(
      leases.items.map((one) => one.spec?.holderIdentity),
      ["control-plane", "worker-1", "worker-2"]
    )
    // The callers do not wait until their events are recorded.
    yield* RealServer.recorded("Scheduled", "FailedScheduling", "Pulled", "Started", "Failed", "BackOff", "Killing")
  }).pipe(Effect.provide(cluster))
)

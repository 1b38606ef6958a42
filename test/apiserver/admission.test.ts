/** The built-in admission plugins and their switches: what each adds, what it rejects, and its messages. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { layer, get, patch, pod, pods, post, put, refused, remove, same } from "./client.ts"

const namespaced = (plural: string) => `/api/v1/namespaces/default/${plural}`
const limitRange = (...limits: ReadonlyArray<object>) => ({ metadata: { name: "limits" }, spec: { limits } })
const asking = (name: string, resources: object) =>
  pod(name, {}, { containers: [{ name: "main", image: "web:1", resources }] })

describe("NamespaceLifecycle", () => {
  it.effect("rejects a create in a missing or terminating namespace, before validation", () =>
    Effect.gen(function* () {
      yield* post("/api/v1/namespaces", { metadata: { name: "n" } })
      yield* remove("/api/v1/namespaces/n")
      const ending = yield* refused(post("/api/v1/namespaces/n/pods", pod("a", {}, { containers: [] })))
      same([ending.status, ending.error.details?.causes?.[0]?.reason], [403, "NamespaceTerminating"])
      same((yield* refused(post("/api/v1/namespaces/none/pods", pod("a", {}, { containers: [] })))).status, 404)
      same((yield* refused(remove("/api/v1/namespaces/kube-system"))).status, 403)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is a switch", () =>
    Effect.gen(function* () {
      same((yield* post("/api/v1/namespaces/none/pods", pod("a"))).metadata.namespace, "none")
      yield* remove("/api/v1/namespaces/kube-public")
    }).pipe(Effect.provide(layer({ admission: { namespaceLifecycle: false } })))
  )
})

describe("LimitRanger", () => {
  const range = limitRange({
    type: "Container",
    default: { cpu: "500m" },
    defaultRequest: { cpu: "100m" },
    min: { cpu: "50m" },
    max: { cpu: "1", memory: "1Gi" },
    maxLimitRequestRatio: { cpu: "10" }
  })

  it.effect("sets default requests and limits of containers, and an annotation", () =>
    Effect.gen(function* () {
      yield* post(namespaced("limitranges"), range)
      const made = yield* post(pods, pod("a"))
      same(made.spec.containers[0].resources, {
        limits: { cpu: "500m", memory: "1Gi" },
        requests: { cpu: "100m", memory: "1Gi" }
      })
      same(
        made.metadata.annotations["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main"
      )
      same(made.status.qosClass, "Burstable")
      same((yield* get(`${pods}/a`)).spec, made.spec)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("rejects resources below the minimum, above the maximum or above the ratio", () =>
    Effect.gen(function* () {
      yield* post(namespaced("limitranges"), range)
      const why = (requests: object, limits: object) =>
        Effect.map(refused(post(pods, asking("a", { requests, limits }))), (error) => [error.status, error.message])
      same(yield* why({ cpu: "10m" }, { cpu: "100m" }), [
        403,
        'pods "a" is forbidden: minimum cpu usage per Container is 50m, but request is 10m'
      ])
      same(yield* why({ cpu: "1" }, { cpu: "2" }), [
        403,
        'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
      ])
      same(yield* why({ cpu: "50m" }, { cpu: "1" }), [
        403,
        'pods "a" is forbidden: cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000'
      ])
      const both = yield* why({ cpu: "1" }, { cpu: "2", memory: "2Gi" })
      assert.match(String(both[1]), /forbidden: \[maximum cpu usage .*, maximum memory usage .*\]$/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("limits the sum of the containers of a pod, and the request of a claim", () =>
    Effect.gen(function* () {
      yield* post(
        namespaced("limitranges"),
        limitRange({ type: "Pod", max: { cpu: "1" } }, { type: "PersistentVolumeClaim", min: { storage: "1Gi" } })
      )
      const two = ["a", "b"].map((name) => ({ name, image: "web:1", resources: { limits: { cpu: "600m" } } }))
      same(
        (yield* refused(post(pods, pod("a", {}, { containers: two })))).message,
        'pods "a" is forbidden: maximum cpu usage per Pod is 1, but limit is 1200m'
      )
      const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } }
      same(
        (yield* refused(post(namespaced("persistentvolumeclaims"), { metadata: { name: "c" }, spec: claim }))).message,
        'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi'
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is a switch", () =>
    Effect.gen(function* () {
      yield* post(namespaced("limitranges"), range)
      same((yield* post(pods, pod("a"))).spec.containers[0].resources, {})
    }).pipe(Effect.provide(layer({ admission: { limitRanger: false } })))
  )
})

describe("Priority and DefaultTolerationSeconds", () => {
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"

  it.effect("set priority and tolerations of a new pod; an update keeps them", () =>
    Effect.gen(function* () {
      const made = yield* post(pods, pod("a"))
      same([made.spec.priority, made.spec.preemptionPolicy], [0, "PreemptLowerPriority"])
      same(
        made.spec.tolerations.map((one: any) => [one.key, one.effect, one.tolerationSeconds]),
        [
          ["node.kubernetes.io/not-ready", "NoExecute", 300],
          ["node.kubernetes.io/unreachable", "NoExecute", 300]
        ]
      )
      same((yield* put(`${pods}/a`, pod("a"))).metadata.resourceVersion, made.metadata.resourceVersion)
      const own = [{ operator: "Exists" }]
      same((yield* post(pods, pod("b", {}, { tolerations: own }))).spec.tolerations, own)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("take the priority from the PriorityClass of the pod, or from the global default", () =>
    Effect.gen(function* () {
      yield* post(classes, { metadata: { name: "high" }, value: 1000, preemptionPolicy: "Never" })
      const made = yield* post(pods, pod("a", {}, { priorityClassName: "high" }))
      same([made.spec.priority, made.spec.preemptionPolicy], [1000, "Never"])
      const other = yield* refused(post(pods, pod("b", {}, { priorityClassName: "high", priority: 5 })))
      assert.match(other.message, /priority admission controller computed 1000 from the given PriorityClass name$/)
      yield* post(classes, { metadata: { name: "usual" }, value: 7, globalDefault: true })
      const usual = yield* post(pods, pod("c"))
      same([usual.spec.priorityClassName, usual.spec.priority], ["usual", 7])
    }).pipe(Effect.provide(layer()))
  )
})

describe("ServiceAccount", () => {
  const on = layer({ admission: { serviceAccount: true } })
  const account = (name: string, rest: object = {}) =>
    post(namespaced("serviceaccounts"), { metadata: { name }, ...rest })
  const why = (given: object) => Effect.map(refused(post(pods, given)), (error) => [error.status, error.message])
  const notFound = (name: string) => [
    403,
    `pods "a" is forbidden: error looking up service account default/${name}: serviceaccount "${name}" not found`
  ]
  const mount = "/var/run/secrets/kubernetes.io/serviceaccount"

  it.effect("sets the account and its image pull secrets; the account must exist", () =>
    Effect.gen(function* () {
      const secrets = [{ name: "registry" }]
      yield* account("default", { imagePullSecrets: secrets })
      const made = yield* post(pods, pod("a"))
      same(
        [made.spec.serviceAccountName, made.spec.serviceAccount, made.spec.imagePullSecrets],
        ["default", "default", secrets]
      )
      const own = [{ name: "own" }]
      same((yield* post(pods, pod("b", {}, { imagePullSecrets: own }))).spec.imagePullSecrets, own)
    }).pipe(Effect.provide(on))
  )

  it.effect("rejects a pod whose named account is missing, without a retry", () =>
    Effect.gen(function* () {
      same(yield* why(pod("a", {}, { serviceAccountName: "none" })), notFound("none"))
    }).pipe(Effect.provide(on))
  )

  it.effect("retries for less than two seconds when the default account is missing", () =>
    Effect.gen(function* () {
      const late = yield* Effect.forkChild(why(pod("a")), { startImmediately: true })
      yield* TestClock.adjust("890 millis")
      same(late.pollUnsafe(), undefined)
      yield* TestClock.adjust("910 millis")
      same(yield* Fiber.join(late), notFound("default"))

      const made = yield* Effect.forkChild(post(pods, pod("a")), { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      same(made.pollUnsafe(), undefined)
      yield* account("default")
      yield* TestClock.adjust("200 millis")
      same((yield* Fiber.join(made)).spec.serviceAccountName, "default")
    }).pipe(Effect.provide(on))
  )

  it.effect("a retry looks for the account alone: the other plugins have admitted the pod", () =>
    Effect.gen(function* () {
      yield* post("/api/v1/namespaces", { metadata: { name: "n" } })
      const late = yield* Effect.forkChild(refused(post("/api/v1/namespaces/n/pods", pod("a"))), {
        startImmediately: true
      })
      yield* TestClock.adjust("150 millis")
      yield* remove("/api/v1/namespaces/n")
      yield* TestClock.adjust("2 seconds")
      const { error } = yield* Fiber.join(late)
      assert.include(error.message, "error looking up service account n/default")
    }).pipe(Effect.provide(on))
  )

  it.effect("mounts one token volume in all containers and init containers", () =>
    Effect.gen(function* () {
      yield* account("default")
      const container = { name: "side", image: "web:1", volumeMounts: [{ name: "v", mountPath: mount }] }
      const made = yield* post(
        pods,
        pod(
          "a",
          {},
          {
            initContainers: [{ name: "init", image: "web:1" }],
            containers: [{ name: "main", image: "web:1" }, container],
            volumes: [{ name: "v", emptyDir: {} }]
          }
        )
      )
      const [, volume] = made.spec.volumes
      assert.match(volume.name, /^kube-api-access-[a-z0-9]{5}$/)
      same(volume.projected, {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }]
            }
          }
        ],
        defaultMode: 420
      })
      const expected = [{ name: volume.name, readOnly: true, mountPath: mount }]
      same(made.spec.initContainers[0].volumeMounts, expected)
      same(made.spec.containers[0].volumeMounts, expected)
      same(made.spec.containers[1].volumeMounts, container.volumeMounts)
      // A pod that already has such a volume, such as a copy of another pod, gets no second one.
      const copy = { ...pod("b"), spec: { containers: pod("b").spec.containers, volumes: made.spec.volumes } }
      const copied = yield* post(pods, copy)
      same(copied.spec.volumes, made.spec.volumes)
      same(copied.spec.containers[0].volumeMounts, expected)
    }).pipe(Effect.provide(on))
  )

  it.effect("automountServiceAccountToken of the pod takes precedence over that of the account", () =>
    Effect.gen(function* () {
      yield* account("default", { automountServiceAccountToken: false })
      yield* account("open")
      const volumes = (name: string, spec: object) =>
        Effect.map(post(pods, pod(name, {}, spec)), (made) => (made.spec.volumes ?? []).length)
      same(yield* volumes("a", {}), 0)
      same(yield* volumes("b", { automountServiceAccountToken: true }), 1)
      same(yield* volumes("c", { serviceAccountName: "open" }), 1)
      same(yield* volumes("d", { serviceAccountName: "open", automountServiceAccountToken: false }), 0)
    }).pipe(Effect.provide(on))
  )

  it.effect("rejects mirror pods with accounts or secrets, and does not change others", () =>
    Effect.gen(function* () {
      const mirror = (spec: object) => {
        const plain = pod("a", {}, spec)
        return { ...plain, metadata: { ...plain.metadata, annotations: { "kubernetes.io/config.mirror": "x" } } }
      }
      const container = { name: "main", image: "web:1" }
      const refusals: ReadonlyArray<readonly [object, string]> = [
        [{ serviceAccountName: "x" }, "reference service accounts"],
        [{ volumes: [{ name: "v", secret: { secretName: "s" } }] }, "reference secrets"],
        [{ containers: [{ ...container, envFrom: [{ secretRef: { name: "s" } }] }] }, "reference secrets"],
        [{ imagePullSecrets: [{ name: "s" }] }, "reference secrets"],
        [
          { volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] },
          "use ServiceAccountToken volume projections"
        ]
      ]
      for (const [spec, words] of refusals) {
        same(yield* why(mirror(spec)), [403, `pods "a" is forbidden: a mirror pod may not ${words}`])
      }
      const made = yield* post(pods, mirror({}))
      same([made.spec.serviceAccountName, made.spec.volumes], [undefined, undefined])
    }).pipe(Effect.provide(on))
  )

  it.effect("is off by default", () =>
    Effect.gen(function* () {
      same((yield* post(pods, pod("a"))).spec.volumes, undefined)
    }).pipe(Effect.provide(layer()))
  )
})

describe("TaintNodesByCondition", () => {
  const nodes = "/api/v1/nodes"
  const taint = (effect: string) => ({ key: "node.kubernetes.io/not-ready", effect })

  it.effect("taints a new node as not ready, once, and not on update", () =>
    Effect.gen(function* () {
      same((yield* post(nodes, { metadata: { name: "a" } })).spec.taints, [taint("NoSchedule")])
      const cleared = yield* patch(`${nodes}/a`, "merge", { spec: { taints: null } })
      same(cleared.spec?.taints, undefined)
      const said = { metadata: { name: "b" }, spec: { taints: [taint("NoExecute"), taint("NoSchedule")] } }
      same((yield* post(nodes, said)).spec.taints, said.spec.taints)
    }).pipe(Effect.provide(layer({ admission: { nodeTaints: true } })))
  )

  it.effect("is off by default", () =>
    Effect.gen(function* () {
      same((yield* post(nodes, { metadata: { name: "a" } })).spec?.taints, undefined)
    }).pipe(Effect.provide(layer()))
  )
})

describe("ResourceQuota", () => {
  const quota = namespaced("resourcequotas")
  const counted = Effect.fnUntraced(function* (hard: Record<string, string>) {
    yield* post(quota, { metadata: { name: "q" }, spec: { hard } })
    const used = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]))
    yield* patch(`${quota}/q/status`, "merge", { status: { hard, used } })
    return Effect.map(get(`${quota}/q`), (found) => found.status.used)
  })

  it.effect("counts sidecars with all later containers, and the overhead of a pod", () =>
    Effect.gen(function* () {
      const used = yield* counted({ "requests.cpu": "10", cpu: "10" })
      const one = (name: string, cpu: string, more: object = {}) => ({
        name,
        image: "i:1",
        resources: { requests: { cpu } },
        ...more
      })
      const initContainers = [
        one("before", "500m"),
        one("sidecar", "100m", { restartPolicy: "Always" }),
        one("after", "450m")
      ]
      yield* post(pods, pod("a", {}, { containers: [one("main", "200m")], initContainers }))
      same(yield* used, { "requests.cpu": "550m", cpu: "550m" })
      const overhead = { cpu: "50m" }
      yield* post(pods, pod("b", {}, { containers: [one("main", "1")], initContainers, overhead }))
      same(yield* used, { "requests.cpu": "1700m", cpu: "1700m" })
    }).pipe(Effect.provide(layer({ admission: { resourceQuota: true } })))
  )

  it.effect("counts claims by storage class too, and charges an increase", () =>
    Effect.gen(function* () {
      const prefix = "fast.storageclass.storage.k8s.io"
      const used = yield* counted({ [`${prefix}/requests.storage`]: "5Gi", [`${prefix}/persistentvolumeclaims`]: "2" })
      const claims = namespaced("persistentvolumeclaims")
      const claim = (name: string, storage: string, storageClassName: string) => ({
        metadata: { name },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } } }
      })
      yield* post(claims, claim("a", "2Gi", "fast"))
      yield* post(claims, claim("b", "9Gi", "slow"))
      same(yield* used, { [`${prefix}/requests.storage`]: "2Gi", [`${prefix}/persistentvolumeclaims`]: "1" })
      yield* patch(`${claims}/a/status`, "merge", { status: { phase: "Bound" } })
      const grow = (storage: string) =>
        patch(`${claims}/a`, "merge", { spec: { resources: { requests: { storage } } } })
      yield* grow("4Gi")
      same((yield* used)[`${prefix}/requests.storage`], "4Gi")
      same((yield* refused(grow("6Gi"))).status, 403)
    }).pipe(Effect.provide(layer({ admission: { resourceQuota: true } })))
  )

  it.effect("charges a create, and rejects one that exceeds the quota", () =>
    Effect.gen(function* () {
      const hard = { pods: "2", "requests.cpu": "1" }
      yield* post(quota, { metadata: { name: "q" }, spec: { hard } })
      // Until the controller has computed the status, the quota has no hard limit.
      yield* post(pods, pod("early"))
      yield* remove(`${pods}/early`)
      const unknown = yield* patch(`${quota}/q/status`, "merge", { status: { hard } })
      same(unknown.status.hard, hard)
      const first = yield* refused(post(pods, asking("a", { requests: { cpu: "600m" } })))
      same(first.message, 'pods "a" is forbidden: status unknown for quota: q, resources: pods,requests.cpu')
      yield* patch(`${quota}/q/status`, "merge", { status: { used: { pods: "0", "requests.cpu": "0" } } })
      same(
        (yield* refused(post(pods, pod("a")))).message,
        'pods "a" is forbidden: failed quota: q: must specify requests.cpu for: main'
      )
      yield* post(pods, asking("a", { requests: { cpu: "600m" } }), { dryRun: "All" })
      yield* post(pods, asking("a", { requests: { cpu: "600m" } }))
      same((yield* get(`${quota}/q`)).status.used, { pods: "1", "requests.cpu": "600m" })
      const full = yield* refused(post(pods, asking("b", { requests: { cpu: "600m" } })))
      same(
        [full.status, full.message],
        [
          403,
          'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1'
        ]
      )
      yield* post(pods, asking("b", { requests: { cpu: "100m" } }))
      same(
        (yield* refused(post(pods, asking("c", { requests: { cpu: "100m" } })))).message,
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
      )
    }).pipe(Effect.provide(layer({ admission: { resourceQuota: true } })))
  )
})

describe("DefaultStorageClass", () => {
  const storageClass = (name: string, isDefault: boolean) => ({
    metadata: { name, annotations: { "storageclass.kubernetes.io/is-default-class": String(isDefault) } },
    provisioner: "example.test/volumes"
  })
  const claim = (name: string, spec: object = {}, annotations: object = {}) => ({
    metadata: { name, annotations },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec }
  })
  const claims = namespaced("persistentvolumeclaims")
  const classOf = (claim: object) => Effect.map(post(claims, claim), ({ spec }) => spec.storageClassName)

  it.effect("gives a new claim without a class the newest default class", () =>
    Effect.gen(function* () {
      same(yield* classOf(claim("early")), undefined)
      for (const [name, isDefault] of [
        ["b", true],
        ["a", true],
        ["other", false]
      ] as const)
        yield* post("/apis/storage.k8s.io/v1/storageclasses", storageClass(name, isDefault))
      same(yield* classOf(claim("one")), "a")
      yield* TestClock.adjust("1 second")
      yield* post("/apis/storage.k8s.io/v1/storageclasses", storageClass("new", true))
      same(yield* classOf(claim("two")), "new")
      same(yield* classOf(claim("other", { storageClassName: "other" })), "other")
      same(yield* classOf(claim("none", { storageClassName: "" })), "")
      same(yield* classOf(claim("old", {}, { "volume.beta.kubernetes.io/storage-class": "other" })), undefined)
      same(
        (yield* patch(`${claims}/early`, "merge", { metadata: { labels: { a: "b" } } })).spec.storageClassName,
        undefined
      )
    }).pipe(Effect.provide(layer()))
  )
})

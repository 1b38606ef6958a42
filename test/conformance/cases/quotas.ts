/** Built-in admission: the usage that quotas are charged for, and the order of their errors. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, merge, refused } from "../assertions.ts"
import { type Ask, type Case, configMap } from "../Case.ts"
import { at, podOf, service } from "../objects.ts"
import { eventually } from "../roles.ts"

type Amounts = Readonly<Record<string, string>>

/**
 * A quota with the status that the controller computes while nothing is used, once the server charges it: a real one reads quotas from a cache. That no
 * Secret is allowed shows when it does. Returns what is used of the rest.
 */
export const counted = Effect.fnUntraced(function* (ask: Ask, namespace: string, limits: Amounts) {
  const { quotas } = at(namespace)
  const hard = { ...limits, secrets: "0" }
  const none = Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]))
  done(yield* ask("POST", quotas, { metadata: { name: "q" }, spec: { hard } }))
  done(yield* ask("PATCH", `${quotas}/q/status`, { status: { hard, used: none } }, merge))
  const secret = ask("POST", `/api/v1/namespaces/${namespace}/secrets?dryRun=All`, { metadata: { name: "probe" } })
  yield* eventually(secret, ({ status }) => status === 403)
  return Effect.map(ask("GET", `${quotas}/q`), (reply): Amounts => {
    const { secrets: _, ...used } = done(reply).status.used
    return used
  })
})

const exceeded = (what: string, requested: string, used: string, limited: string) =>
  ({
    code: 403,
    reason: "Forbidden",
    message: `${what} is forbidden: exceeded quota: q, requested: ${requested}, used: ${used}, limited: ${limited}`
  }) as const

const asking = (name: string, cpu: string | undefined, initial?: string) => {
  const container = (own: string, amount: string | undefined) => ({
    name: own,
    image: "registry.example/app:1",
    resources: amount === undefined ? {} : { requests: { cpu: amount } }
  })
  return podOf(name, {
    containers: [container("main", cpu)],
    ...(initial === undefined ? {} : { initContainers: [container("first", initial === "" ? undefined : initial)] })
  })
}

export const quotas: ReadonlyArray<Case> = [
  {
    title: "a quota is charged after validation, and before the check whether the object exists",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const used = yield* counted(ask, namespace, { configmaps: "2" })
      done(yield* ask("POST", configMaps, configMap("a")), 201)
      refused(yield* ask("POST", configMaps, configMap("a")), { code: 409, reason: "AlreadyExists" })
      assert.deepStrictEqual(yield* used, { configmaps: "2" })
      refused(
        yield* ask("POST", configMaps, configMap("a")),
        exceeded('configmaps "a"', "configmaps=1", "configmaps=2", "configmaps=2")
      )
      refused(yield* ask("POST", configMaps, configMap("B_")), { code: 422, reason: "Invalid" })
      done(yield* ask("DELETE", `${configMaps}/a`))
      assert.deepStrictEqual(yield* used, { configmaps: "2" })
    })
  },
  {
    title: "an update is charged for an increase, and not credited for a decrease",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { services } = at(namespace)
      const used = yield* counted(ask, namespace, {
        services: "5",
        "services.nodeports": "2",
        "services.loadbalancers": "1"
      })
      const change = (spec: object) => ask("PATCH", `${services}/s`, { spec }, merge)
      const now = (nodeports: string, loadbalancers: string) => ({
        services: "1",
        "services.nodeports": nodeports,
        "services.loadbalancers": loadbalancers
      })
      done(yield* ask("POST", services, service("s")))
      assert.deepStrictEqual(yield* used, now("0", "0"))
      done(yield* change({ type: "NodePort" }))
      assert.deepStrictEqual(yield* used, now("1", "0"))
      const ports = ["a", "b", "c"].map((name, index) => ({ name, port: 80 + index }))
      refused(
        yield* change({ ports }),
        exceeded('services "s"', "services.nodeports=2", "services.nodeports=1", "services.nodeports=2")
      )
      done(yield* change({ type: "LoadBalancer" }))
      done(yield* ask("PATCH", `${services}/s`, { metadata: { labels: { x: "y" } } }, merge))
      assert.deepStrictEqual(yield* used, now("1", "1"))
      done(yield* change({ type: "ClusterIP", ports: [{ port: 80, nodePort: null }] }))
      assert.deepStrictEqual(yield* used, now("1", "1"))
    })
  },
  {
    title: "the usage of a pod is the sum of its containers, or its largest init container, whichever is more",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      const used = yield* counted(ask, namespace, { pods: "5", "requests.cpu": "1" })
      done(yield* ask("POST", pods, asking("a", "100m", "300m")), 201)
      assert.deepStrictEqual(yield* used, { pods: "1", "requests.cpu": "300m" })
      done(yield* ask("POST", pods, asking("b", "200m", "100m")), 201)
      assert.deepStrictEqual(yield* used, { pods: "2", "requests.cpu": "500m" })
      const unsaid = {
        code: 403,
        reason: "Forbidden",
        // Newer versions name the container.
        message: /^pods "c" is forbidden: failed quota: q: must specify requests.cpu(?: for: (?:main|first))?$/
      }
      refused(yield* ask("POST", pods, asking("c", undefined)), unsaid)
      refused(yield* ask("POST", pods, asking("c", "100m", "")), unsaid)
      refused(
        yield* ask("POST", pods, asking("c", "600m")),
        exceeded('pods "c"', "requests.cpu=600m", "requests.cpu=500m", "requests.cpu=1")
      )
      done(yield* ask("PATCH", `${pods}/a`, { metadata: { labels: { x: "y" } } }, merge))
      assert.deepStrictEqual(yield* used, { pods: "2", "requests.cpu": "500m" })
    })
  },
  {
    title: "a quota with a scope is charged for the pods of that scope only",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods, quotas } = at(namespace)
      const scopeSelector = {
        matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }]
      }
      const [hard, used] = [{ pods: "1" }, { pods: "0" }]
      const critical = { priorityClassName: "system-node-critical" }
      done(yield* ask("POST", quotas, { metadata: { name: "q" }, spec: { hard, scopeSelector } }))
      const allow = (limit: Amounts) => ask("PATCH", `${quotas}/q/status`, { status: { hard: limit, used } }, merge)
      // A real server reads quotas from a cache: it charges this one once it refuses the first pod.
      done(yield* allow({ pods: "0" }))
      const first = podOf("a", critical)
      yield* eventually(ask("POST", `${pods}?dryRun=All`, first), ({ status }) => status === 403)
      done(yield* allow(hard))
      done(yield* ask("POST", pods, podOf("plain")), 201)
      assert.deepStrictEqual(done(yield* ask("GET", `${quotas}/q`)).status.used, used)
      yield* eventually(ask("POST", pods, first), ({ status }) => status === 201)
      refused(yield* ask("POST", pods, podOf("b", critical)), exceeded('pods "b"', "pods=1", "pods=1", "pods=1"))
      done(yield* ask("POST", pods, podOf("also-plain")), 201)
    })
  },
  {
    title: "a quota error names each container without the resource, unless the pod has it",
    since: 34,
    rule: "demands of quotas by container",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      const used = yield* counted(ask, namespace, { cpu: "1", "limits.cpu": "1" })
      const silent = podOf("a", { containers: ["b", "a"].map((name) => ({ name, image: "registry.example/app:1" })) })
      refused(yield* ask("POST", pods, silent), {
        code: 403,
        reason: "Forbidden",
        message: 'pods "a" is forbidden: failed quota: q: must specify cpu for: a,b; limits.cpu for: a,b'
      })
      const resources = { requests: { cpu: "300m" }, limits: { cpu: "500m" } }
      done(yield* ask("POST", pods, { ...silent, spec: { ...silent.spec, resources } }), 201)
      assert.deepStrictEqual(yield* used, { cpu: "300m", "limits.cpu": "500m" })
    })
  },
  {
    title: "a pod that gets a deadline is charged in the Terminating scope",
    since: 34,
    rule: "quotas by scope follow updates of pods",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods, quotas } = at(namespace)
      const [hard, used] = [{ pods: "1" }, { pods: "0" }]
      done(yield* ask("POST", quotas, { metadata: { name: "q" }, spec: { hard, scopes: ["Terminating"] } }))
      done(yield* ask("PATCH", `${quotas}/q/status`, { status: { hard, used } }, merge))
      for (const name of ["a", "b"]) done(yield* ask("POST", pods, podOf(name)), 201)
      const end = (name: string) => ask("PATCH", `${pods}/${name}`, { spec: { activeDeadlineSeconds: 60 } }, merge)
      done(yield* end("a"))
      assert.deepStrictEqual(done(yield* ask("GET", `${quotas}/q`)).status.used, { pods: "1" })
      refused(yield* end("b"), exceeded('pods "b"', "pods=1", "pods=1", "pods=1"))
    })
  },
  {
    title: "a quota for a VolumeAttributesClass counts the claims that have or request the class",
    since: 34,
    rule: "the scope VolumeAttributesClass",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { claims, quotas } = at(namespace)
      const [hard, used] = [
        { persistentvolumeclaims: "1", "requests.storage": "5Gi" },
        { persistentvolumeclaims: "0", "requests.storage": "0" }
      ]
      const scopeSelector = {
        matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["gold"] }]
      }
      done(yield* ask("POST", quotas, { metadata: { name: "q" }, spec: { hard, scopeSelector } }))
      done(yield* ask("PATCH", `${quotas}/q/status`, { status: { hard, used } }, merge))
      const claim = (name: string, volumeAttributesClassName: string) => ({
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "",
          volumeAttributesClassName,
          resources: { requests: { storage: "1Gi" } }
        }
      })
      done(yield* ask("POST", claims, claim("a", "silver")), 201)
      done(yield* ask("POST", claims, claim("b", "gold")), 201)
      const now = { persistentvolumeclaims: "1", "requests.storage": "1Gi" }
      assert.deepStrictEqual(done(yield* ask("GET", `${quotas}/q`)).status.used, now)
      refused(
        yield* ask("POST", claims, claim("c", "gold")),
        exceeded(
          'persistentvolumeclaims "c"',
          "persistentvolumeclaims=1",
          "persistentvolumeclaims=1",
          "persistentvolumeclaims=1"
        )
      )
    })
  }
]

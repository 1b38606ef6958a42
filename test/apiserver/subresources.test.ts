/** Subresources with a separate kind, and reviews. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, configMap, configMaps, get, layer, patch, pod, pods, post, put, refused, same } from "./client.ts"

const policy = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
const eviction = (name: string, extra: object = {}) => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name },
  ...extra
})
const evict = (name: string, extra: object = {}) => post(`${pods}/${name}/eviction`, eviction(name, extra))
const status = (path: string, body: object) => patch(`${path}/status`, "merge", { status: body })

const running = (name: string, ready = "True") =>
  Effect.andThen(
    post(pods, pod(name, { labels: { app: "web" } }, { nodeName: "n1" })),
    status(`${pods}/${name}`, { phase: "Running", conditions: [{ type: "Ready", status: ready }] })
  )

const budget = (allowed: number, extra: object = {}, healthy = 1) =>
  Effect.andThen(
    post(policy, {
      metadata: { name: "b" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } }, ...extra }
    }),
    status(`${policy}/b`, {
      observedGeneration: 1,
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: 1,
      expectedPods: 2
    })
  )

describe("eviction", () => {
  it.effect("decrements disruptionsAllowed, records the pod, and deletes it", () =>
    Effect.gen(function* () {
      yield* running("a")
      yield* budget(1)
      same(yield* evict("a"), { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 })
      const left = (yield* get(`${policy}/b`)).status
      same([left.disruptionsAllowed, left.disruptedPods], [0, { a: "1970-01-01T00:00:00Z" }])
      const going = yield* get(`${pods}/a`)
      same(going.metadata.deletionGracePeriodSeconds, 30)
      const condition = going.status.conditions.find((one: any) => one.type === "DisruptionTarget")
      same([condition.status, condition.reason], ["True", "EvictionByEvictionAPI"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("fails with 429 and a cause when no disruption is allowed", () =>
    Effect.gen(function* () {
      yield* running("a")
      yield* budget(0)
      const refusal = yield* refused(evict("a"))
      same(
        [refusal.status, refusal.message, refusal.error.details],
        [
          429,
          "Cannot evict pod as it would violate the pod's disruption budget.",
          {
            causes: [
              {
                reason: "DisruptionBudget",
                message: "The disruption budget b needs 1 healthy pods and has 1 currently"
              }
            ]
          }
        ]
      )
      yield* patch(`${policy}/b`, "merge", { spec: { minAvailable: 2 } })
      const early = yield* refused(evict("a"))
      same(early.error.details?.causes?.[0]?.message, "The disruption budget b is still being processed by the server.")
      same((yield* get(`${pods}/a`)).metadata.deletionTimestamp, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("ignores budgets for pods that do not run, and for unready pods of a healthy application", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("pending", { labels: { app: "web" } }, { nodeName: "n1" }))
      yield* running("unready", "False")
      yield* budget(0)
      yield* evict("pending")
      yield* evict("unready")
      assert.isDefined((yield* get(`${pods}/unready`)).metadata.deletionTimestamp)
      same((yield* get(`${policy}/b`)).status.disruptedPods, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("supports dry runs, and checks preconditions and names", () =>
    Effect.gen(function* () {
      yield* running("a")
      yield* budget(1)
      yield* evict("a", { deleteOptions: { dryRun: ["All"] } })
      same((yield* get(`${policy}/b`)).status.disruptionsAllowed, 1)
      same((yield* refused(evict("a", { deleteOptions: { preconditions: { uid: "other" } } }))).status, 409)
      same((yield* refused(evict("none"))).status, 404)
      same((yield* refused(post(`${pods}/a/eviction`, eviction("b")))).status, 400)
      yield* post(`${pods}/a/eviction`, { ...eviction("a"), apiVersion: "policy/v1beta1" })
    }).pipe(Effect.provide(layer()))
  )
})

describe("binding", () => {
  it.effect("assigns a pod once, with a condition and the annotations of the Binding", () =>
    Effect.gen(function* () {
      const made = yield* post(pods, pod("a"))
      const bind = (body: object) => post(`${pods}/a/binding`, { metadata: { name: "a" }, ...body })
      same((yield* refused(bind({ target: { kind: "Pod", name: "n" } }))).status, 500)
      same((yield* refused(bind({ target: {} }))).status, 500)
      same((yield* refused(bind({ metadata: {}, target: { name: "n" } }))).status, 400)
      same((yield* refused(bind({ metadata: { name: "b" }, target: { name: "n" } }))).status, 400)
      same((yield* refused(bind({ metadata: { name: "a", uid: "other" }, target: { name: "n" } }))).status, 409)
      yield* bind({ metadata: { name: "a", uid: made.metadata.uid, annotations: { k: "v" } }, target: { name: "n" } })
      const bound = yield* get(`${pods}/a`)
      same([bound.spec.nodeName, bound.metadata.annotations], ["n", { k: "v" }])
      same(bound.status.conditions[0].type, "PodScheduled")
      const again = yield* refused(bind({ target: { name: "n" } }))
      assert.match(again.message, /pod a is already assigned to node "n"/)
    }).pipe(Effect.provide(layer()))
  )
})

describe("ephemeralcontainers", () => {
  it.effect("changes ephemeralContainers and nothing else", () =>
    Effect.gen(function* () {
      const made = yield* post(pods, pod("a"))
      const changed = yield* patch(`${pods}/a/ephemeralcontainers`, "strategic", {
        spec: { nodeName: "n", ephemeralContainers: [{ name: "debug", image: "busybox" }] }
      })
      same(changed.spec.ephemeralContainers[0].name, "debug")
      same([changed.spec.nodeName, changed.spec.containers], [undefined, made.spec.containers])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("validates new ephemeral containers, and rejects changes of existing ones", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("a"))
      const put = (...ephemeralContainers: ReadonlyArray<object>) =>
        patch(`${pods}/a/ephemeralcontainers`, "merge", { spec: { ephemeralContainers } })
      const why = (...list: ReadonlyArray<object>) =>
        Effect.map(refused(put(...list)), ({ error }) =>
          error.details?.causes?.map(({ field, message }) => [field?.replace("spec.ephemeralContainers", ""), message])
        )
      const debug = { name: "debug", image: "busybox" }
      same(yield* why({ name: "main", image: "busybox" }), [["[0].name", 'Duplicate value: "main"']])
      same(yield* why({ name: "debug" }), [["[0].image", "Required value"]])
      same(yield* why({ ...debug, targetContainerName: "none" }), [["[0].targetContainerName", 'Not found: "none"']])
      same(
        yield* why({ ...debug, ports: [{ containerPort: 80 }], lifecycle: { preStop: { exec: { command: ["a"] } } } }),
        [
          ["[0].lifecycle", "Forbidden: cannot be set for an Ephemeral Container"],
          ["[0].ports", "Forbidden: cannot be set for an Ephemeral Container"]
        ]
      )
      const made = yield* put(debug)
      same(made.spec.ephemeralContainers[0].imagePullPolicy, "Always")
      const stays = (what: string) => [["", `Forbidden: existing ephemeral containers "debug" may not be ${what}\n`]]
      same(yield* why(), stays("removed"))
      same(yield* why({ ...debug, image: "other" }), stays("changed"))
      same((yield* put(debug, { ...debug, name: "more" })).spec.ephemeralContainers.length, 2)
      const fresh = yield* refused(post(pods, pod("b", {}, { ephemeralContainers: [debug] })))
      same(fresh.status, 422)
    }).pipe(Effect.provide(layer()))
  )
})

describe("TokenRequest", () => {
  const accounts = "/api/v1/namespaces/default/serviceaccounts"
  const review = (token: string, audiences?: ReadonlyArray<string>) =>
    post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token, ...(audiences && { audiences }) } })

  it.effect("issues tokens that authenticate the account until they expire", () =>
    Effect.gen(function* () {
      yield* post(accounts, { metadata: { name: "robot" } })
      const made = yield* post(`${accounts}/robot/token`, { spec: { expirationSeconds: 600, audiences: ["x"] } })
      same([made.status.expirationTimestamp, made.spec.audiences], ["1970-01-01T00:10:00Z", ["x"]])
      const claims = JSON.parse(atob(made.status.token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")))
      same([claims.sub, claims.exp], ["system:serviceaccount:default:robot", 600])
      const { status } = yield* review(made.status.token, ["x"])
      same([status.authenticated, status.user.username], [true, "system:serviceaccount:default:robot"])
      // The token is not for the audience of the server, which requested no other.
      same((yield* review(made.status.token)).status, {
        user: {},
        error: `[invalid bearer token, token audiences ["x"] is invalid for the target audiences ["https://kubernetes.default.svc"]]`
      })
      same((yield* review("none")).status, { user: {}, error: "invalid bearer token" })
      same((yield* refused(post(`${accounts}/robot/token`, { spec: { expirationSeconds: 5 } }))).status, 422)
      same((yield* refused(post(`${accounts}/none/token`, {}))).status, 404)
    }).pipe(Effect.provide(layer()))
  )
})

describe("reviews", () => {
  const authorization = "/apis/authorization.k8s.io/v1"
  const ask = (plural: string, spec: object, metadata: object = {}) =>
    post(`${authorization}/${plural}`, { metadata, spec })
  const resourceAttributes = { verb: "get", resource: "pods", namespace: "default" }

  it.effect("return their status and store nothing", () =>
    Effect.gen(function* () {
      same((yield* ask("selfsubjectaccessreviews", { resourceAttributes })).status, { allowed: true })
      const other = yield* ask("subjectaccessreviews", { user: "bob", resourceAttributes })
      same([other.kind, other.spec.user, other.status], ["SubjectAccessReview", "bob", { allowed: false }])
      const local = "namespaces/default/localsubjectaccessreviews"
      same((yield* ask(local, { groups: ["system:masters"], resourceAttributes })).status, { allowed: true })
      const rules = (yield* ask("selfsubjectrulesreviews", { namespace: "default" })).status
      same([rules.incomplete, rules.resourceRules[0].verbs], [false, ["*"]])
      const self = yield* post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
      same(self.status.userInfo.username, "system:admin")
      same((yield* refused(get(`${authorization}/subjectaccessreviews`))).status, 405)
    }).pipe(Effect.provide(layer({ authorization: "RBAC" })))
  )

  it.effect("fail validation with the messages of kube-apiserver", () =>
    Effect.gen(function* () {
      const empty = yield* refused(ask("selfsubjectaccessreviews", {}))
      same(
        [empty.status, empty.message],
        [
          422,
          '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified'
        ]
      )
      const local = "namespaces/kube-system/localsubjectaccessreviews"
      assert.match(
        (yield* refused(ask(local, { user: "bob", resourceAttributes }))).message,
        /must match metadata.namespace/
      )
    }).pipe(Effect.provide(layer()))
  )
})

describe("scale", () => {
  it.effect("has its selector as text, and validates resourceVersion and replicas", () =>
    Effect.gen(function* () {
      const sets = "/apis/apps/v1/namespaces/default/statefulsets"
      yield* post(sets, {
        metadata: { name: "s" },
        spec: {
          replicas: 1,
          serviceName: "s",
          selector: {
            matchLabels: { app: "x" },
            matchExpressions: [{ key: "tier", operator: "In", values: ["b", "a"] }]
          },
          template: {
            metadata: { labels: { app: "x", tier: "a" } },
            spec: { containers: [{ name: "main", image: "web:1" }] }
          }
        }
      })
      const scale = yield* get(`${sets}/s/scale`)
      same([scale.spec, scale.status], [{ replicas: 1 }, { replicas: 0, selector: "app=x,tier in (a,b)" }])
      same((yield* put(`${sets}/s/scale`, { ...scale, spec: { replicas: 3 } })).spec.replicas, 3)
      same((yield* refused(put(`${sets}/s/scale`, { ...scale, spec: { replicas: 4 } }))).status, 409)
      same((yield* refused(patch(`${sets}/s/scale`, "merge", { spec: { replicas: -1 } }))).status, 422)
      same(
        (yield* patch(`${sets}/s/scale`, "json", [{ op: "replace", path: "/spec/replicas", value: 5 }])).spec.replicas,
        5
      )
      same((yield* get(`${sets}/s`)).metadata.generation, 3)
      same((yield* refused(call("DELETE", `${sets}/s/scale`))).status, 405)
      yield* post(configMaps, configMap("a"))
      same((yield* refused(get(`${configMaps}/a/scale`))).status, 404)
    }).pipe(Effect.provide(layer()))
  )
})

/** Admission webhooks: which are called, their reviews, their patches, and failures. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, merge, refused } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at, podOf } from "../objects.ts"
import { allowed, configure, denied, hook, onConfigMaps, patching, start } from "../webhooks.ts"

const setData = (request: any, key: string) =>
  patching({ op: "add", path: "/data", value: { ...request.object.data, [key]: "1" } })

const failed = (name: string, why: string) => ({
  code: 500,
  reason: "InternalError",
  message: new RegExp(`^Internal error occurred: failed calling webhook "${name}\\.conformance\\.example": .*${why}`)
})

/** A server that crashes with custom resources also crashes with a patch of a webhook. */
const patches = { since: 20, needs: "custom objects" } as const

export const webhooks: ReadonlyArray<Case> = [
  {
    title: "a mutating webhook receives a new object as it was sent",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, { a: () => allowed })
      yield* configure(subject, hooked, "mutating", [hook("a")])
      done(yield* ask("POST", `${configMaps}?fieldManager=me`, configMap("x", { own: "1" })), 201)
      const [request] = hooked.asked("a")
      assert.match(request.uid, /^[\da-f-]{36}$/)
      const kind = { group: "", version: "v1", kind: "ConfigMap" }
      const resource = { group: "", version: "v1", resource: "configmaps" }
      const { dryRun, name, namespace: where, oldObject, operation, options } = request
      assert.deepStrictEqual(
        { dryRun, name, where, oldObject, operation, options },
        {
          dryRun: false,
          name: "x",
          where: namespace,
          oldObject: null,
          operation: "CREATE",
          options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "me" }
        }
      )
      assert.deepStrictEqual([request.kind, request.requestKind], [kind, kind])
      assert.deepStrictEqual([request.resource, request.requestResource], [resource, resource])
      assert.include(request.userInfo.groups, "system:masters")
      const { apiVersion, data, metadata } = request.object
      assert.deepStrictEqual(
        [apiVersion, request.object.kind, data, metadata.name],
        ["v1", "ConfigMap", { own: "1" }, "x"]
      )
      assert.isUndefined(metadata.uid)
    })
  },
  {
    title: "mutating webhooks are called in the order of configuration names, and validating ones after them",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const seen: Array<string> = []
      const noting = (name: string) => () => {
        seen.push(name)
        return allowed
      }
      const hooked = yield* start(subject, { a: noting("a"), b: noting("b"), c: noting("c"), v: noting("v") })
      yield* configure(subject, hooked, "validating", [hook("v")])
      yield* configure(subject, hooked, "mutating", [hook("a")], "z")
      yield* configure(subject, hooked, "mutating", [hook("c"), hook("b")], "y")
      done(yield* subject.ask("POST", at(subject.namespace).configMaps, configMap("x")), 201)
      assert.deepStrictEqual(seen, ["c", "b", "a", "v"])
      assert.match(hooked.asked("v")[0].object.metadata.uid, /^[\da-f-]{36}$/)
    })
  },
  {
    title: "the patch of a mutating webhook is stored, and later webhooks receive it",
    ...patches,
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* start(subject, {
        a: (request) => setData(request, "a"),
        b: (request) => setData(request, "b"),
        c: (request) => setData(request, "c"),
        v: () => allowed
      })
      yield* configure(subject, hooked, "validating", [hook("v")])
      yield* configure(subject, hooked, "mutating", [hook("a")], "z")
      yield* configure(subject, hooked, "mutating", [hook("c"), hook("b")], "y")
      const { configMaps } = at(subject.namespace)
      const made = done(yield* subject.ask("POST", configMaps, configMap("x")), 201)
      assert.deepStrictEqual(made.data, { a: "1", b: "1", c: "1" })
      assert.deepStrictEqual(done(yield* subject.ask("GET", `${configMaps}/x`)).data, made.data)
      const seen = ["c", "b", "a", "v"].map((name) =>
        Object.keys(hooked.asked(name)[0].object.data ?? {})
          .sort()
          .join(" ")
      )
      assert.deepStrictEqual(seen, ["", "c", "b c", "a b c"])
    })
  },
  {
    title: "a validating webhook denies with its own status and message",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, {
        v: ({ name }) =>
          denied(
            name === "told"
              ? { code: 403, reason: "Forbidden", message: "not today" }
              : name === "soft"
                ? { code: 200, status: "Success", reason: "Because" }
                : undefined
          )
      })
      yield* configure(subject, hooked, "validating", [hook("v")])
      const prefix = 'admission webhook "v.conformance.example" denied the request'
      const told = yield* ask("POST", configMaps, configMap("told"))
      refused(told, { code: 403, reason: "Forbidden", message: `${prefix}: not today` })
      const soft = yield* ask("POST", configMaps, configMap("soft"))
      refused(soft, { code: 400, reason: "Because", message: `${prefix}: Because` })
      const plain = (yield* ask("POST", configMaps, configMap("plain"))).body
      assert.deepStrictEqual(
        [plain.code, plain.message, plain.reason],
        [400, `${prefix} without explanation`, undefined]
      )
      assert.strictEqual((yield* ask("GET", `${configMaps}/told`)).status, 404)
    })
  },
  {
    title: "webhooks receive the old object of an update and of a deletion",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("x", { k: "old" })))
      const hooked = yield* start(subject, { v: () => allowed })
      yield* configure(subject, hooked, "validating", [hook("v", { rules: [onConfigMaps("*")] })])
      done(yield* ask("PATCH", `${configMaps}/x`, { data: { k: "new" } }, merge))
      done(yield* ask("DELETE", `${configMaps}/x?gracePeriodSeconds=0`))
      assert.deepStrictEqual(
        hooked
          .asked("v")
          .map(({ name, object, oldObject, operation, options }) => [
            operation,
            name,
            object?.data.k ?? null,
            oldObject.data.k,
            options.kind
          ]),
        [
          ["UPDATE", "x", "new", "old", "UpdateOptions"],
          ["DELETE", "x", null, "new", "DeleteOptions"]
        ]
      )
    })
  },
  {
    title: "a webhook can deny a deletion, in delete and in deletecollection",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      for (const name of ["a", "b", "c"]) done(yield* ask("POST", configMaps, configMap(name, {}, { of: "case" })))
      const hooked = yield* start(subject, {
        v: ({ oldObject }) => (oldObject.metadata.name === "b" ? denied({ message: "keep it" }) : allowed)
      })
      yield* configure(subject, hooked, "validating", [hook("v", { rules: [onConfigMaps("DELETE")] })])
      const message = 'admission webhook "v.conformance.example" denied the request: keep it'
      assert.strictEqual((yield* ask("DELETE", `${configMaps}/b`)).body.message, message)
      assert.strictEqual((yield* ask("DELETE", `${configMaps}?labelSelector=of%3Dcase`)).body.message, message)
      const left = done(yield* ask("GET", `${configMaps}?labelSelector=of%3Dcase`)).items
      assert.deepStrictEqual(
        left.map((one: any) => one.metadata.name),
        ["b", "c"]
      )
    })
  },
  {
    title: "an unreachable webhook fails the request, or is ignored with failurePolicy Ignore",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const bad = {
        garbage: () => "<html>",
        kind: () => JSON.stringify({ apiVersion: "v1", kind: "Status" }),
        other: () => ({ allowed: true, uid: "other" }),
        patches: () => patching({ op: "add", path: "/data", value: {} })
      }
      const hooked = yield* start(subject, bad)
      const only = (name: string) => ({ objectSelector: { matchLabels: { only: name } } })
      const hooks = Object.keys(bad).flatMap((name) => [
        hook(name, only(name)),
        hook(name, { ...only(`${name}-ignored`), name: `${name}.ignored.example`, failurePolicy: "Ignore" })
      ])
      yield* configure(subject, hooked, "validating", hooks)
      for (const [name, why] of Object.entries({
        garbage: "couldn't get version/kind; json parse error",
        kind: "",
        other: 'expected response.uid="[\\da-f-]{36}", got "other"',
        patches: "validating webhook may not return response.patch"
      })) {
        refused(yield* ask("POST", configMaps, configMap(name, {}, { only: name })), failed(name, why))
        done(yield* ask("POST", configMaps, configMap(`${name}-i`, {}, { only: `${name}-ignored` })), 201)
      }
    })
  },
  {
    title: "a webhook that exceeds its timeout fails",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* start(subject, { slow: () => undefined })
      yield* configure(subject, hooked, "validating", [hook("slow", { timeoutSeconds: 1 })])
      const { configMaps } = at(subject.namespace)
      const url = `${hooked.url}/slow\\?timeout=1s`
      refused(
        yield* subject.ask("POST", configMaps, configMap("x")),
        failed("slow", `Post "${url}": context deadline exceeded`)
      )
    })
  },
  {
    title: "a patch that cannot be applied fails the request, whatever the failurePolicy",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, {
        m: ({ name }) =>
          name === "absent"
            ? patching({ op: "remove", path: "/data/none" })
            : { allowed: true, patchType: "JSONPatch", patch: "e30x" }
      })
      yield* configure(subject, hooked, "mutating", [hook("m", { failurePolicy: "Ignore" })])
      const answer = { code: 500, reason: "InternalError", message: /^Internal error occurred: / }
      for (const name of ["absent", "broken"]) refused(yield* ask("POST", configMaps, configMap(name)), answer)
    })
  },
  {
    title: "a webhook is called for objects and namespaces that its selectors match",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, { o: () => allowed, n: () => denied() })
      const elsewhere = {
        matchExpressions: [
          { key: "webhooks", operator: "NotIn", values: [namespace] },
          { key: "webhooks", operator: "Exists" }
        ]
      }
      const labelled = { matchLabels: { on: "yes" } }
      yield* configure(subject, hooked, "validating", [
        hook("o", { objectSelector: labelled }),
        hook("n", { namespaceSelector: elsewhere, objectSelector: { matchLabels: { of: namespace } } })
      ])
      done(yield* ask("POST", configMaps, configMap("a", {}, { of: namespace })), 201)
      done(yield* ask("POST", configMaps, configMap("b", {}, { on: "yes" })), 201)
      // For an update, the webhook is called if the old or the new object matches.
      done(yield* ask("PATCH", `${configMaps}/b`, { metadata: { labels: { on: null } } }, merge))
      done(yield* ask("PATCH", `${configMaps}/b`, { data: { k: "1" } }, merge))
      assert.deepStrictEqual(
        hooked.asked("o").map(({ operation }) => operation),
        ["CREATE", "UPDATE"]
      )
      assert.deepStrictEqual(hooked.asked("n"), [])
    })
  },
  {
    title: "the client gets the warnings of webhooks, including those that deny",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, {
        v: ({ name }) => ({ allowed: name === "good", warnings: [`careful with ${name}`] })
      })
      yield* configure(subject, hooked, "validating", [hook("v")])
      for (const name of ["good", "bad"]) {
        const { headers } = yield* ask("POST", configMaps, configMap(name))
        assert.strictEqual(headers["warning"], `299 - "careful with ${name}"`)
      }
    })
  },
  {
    title: "webhooks receive dryRun for a dry run",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { configMaps } = at(namespace)
      const hooked = yield* start(subject, { m: () => allowed })
      yield* configure(subject, hooked, "mutating", [hook("m", { sideEffects: "NoneOnDryRun" })])
      done(yield* ask("POST", `${configMaps}?dryRun=All`, configMap("x")))
      assert.deepStrictEqual(
        hooked.asked("m").map(({ dryRun, options }) => [dryRun, options.dryRun]),
        [[true, ["All"]]]
      )
      assert.strictEqual((yield* ask("GET", `${configMaps}/x`)).status, 404)
    })
  },
  {
    title: "writes of subresources match only rules that list the subresource",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("x")), 201)
      const onPods = (...resources: ReadonlyArray<string>) => ({
        rules: [{ apiGroups: [""], apiVersions: ["*"], resources, operations: ["UPDATE"] }]
      })
      const hooked = yield* start(subject, { whole: () => allowed, part: () => allowed, all: () => allowed })
      yield* configure(subject, hooked, "mutating", [
        hook("whole", onPods("pods")),
        hook("part", onPods("pods/status")),
        hook("all", onPods("*/status"))
      ])
      done(yield* ask("PATCH", `${pods}/x/status`, { status: { phase: "Running" } }, merge))
      done(yield* ask("PATCH", `${pods}/x`, { metadata: { labels: { a: "b" } } }, merge))
      const seen = ["whole", "part", "all"].map((name) => hooked.asked(name).map(({ subResource }) => subResource))
      assert.deepStrictEqual(seen, [[undefined], ["status"], ["status"]])
    })
  },
  {
    title: "a webhook for a status can patch the status and not the spec",
    ...patches,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("x")), 201)
      const phase = patching(
        { op: "replace", path: "/status/phase", value: "Failed" },
        { op: "add", path: "/spec/activeDeadlineSeconds", value: 7 }
      )
      const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods/status"], operations: ["UPDATE"] }]
      yield* configure(subject, yield* start(subject, { m: () => phase }), "mutating", [hook("m", { rules })])
      const { spec, status } = done(yield* ask("PATCH", `${pods}/x/status`, { status: { phase: "Running" } }, merge))
      assert.deepStrictEqual([status.phase, spec.activeDeadlineSeconds], ["Failed", undefined])
    })
  },
  {
    title: "a webhook receives the version of its rule, unless its matchPolicy is Exact",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const { events } = at(namespace)
      const rules = [
        { apiGroups: ["events.k8s.io"], apiVersions: ["v1"], resources: ["events"], operations: ["CREATE"] }
      ]
      const hooked = yield* start(subject, {
        equivalent: () => allowed,
        exact: () => allowed
      })
      yield* configure(subject, hooked, "mutating", [
        hook("equivalent", { rules }),
        hook("exact", { rules, matchPolicy: "Exact" })
      ])
      const event = {
        metadata: { name: "x" },
        involvedObject: { kind: "Pod", name: "p", namespace },
        reason: "Test",
        message: "sent",
        type: "Normal"
      }
      done(yield* ask("POST", events, event), 201)
      assert.deepStrictEqual(hooked.asked("exact"), [])
      const [{ kind, object, requestKind, requestResource, resource }] = hooked.asked("equivalent")
      assert.deepStrictEqual(
        [kind.group, resource.group, object.apiVersion, object.note],
        ["events.k8s.io", "events.k8s.io", "events.k8s.io/v1", "sent"]
      )
      assert.deepStrictEqual([requestKind.group, requestResource.group], ["", ""])
    })
  },
  {
    title: "a webhook fails unless its certificate is signed by its caBundle",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const hooked = yield* start(subject, { v: () => allowed })
      const strange = hook("v", { clientConfig: { url: `${hooked.url}/v` } })
      yield* configure(subject, hooked, "validating", [strange])
      const reply = yield* subject.ask("POST", at(subject.namespace).configMaps, configMap("x"))
      refused(reply, failed("v", "certificate"))
      assert.deepStrictEqual(hooked.asked("v"), [])
    })
  }
]

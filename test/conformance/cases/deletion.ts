/** Deletion: grace, finalizers, propagation, collections. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { done, invalid, merge, refused } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at, createLetters, deployment, hasLetter, matching, namesOf, podOf } from "../objects.ts"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

const deleteOptions = (options: object) => ({ apiVersion: "v1", kind: "DeleteOptions", ...options })

const bind = (name: string, node: string) => ({
  apiVersion: "v1",
  kind: "Binding",
  metadata: { name },
  target: { kind: "Node", name: node }
})

const gone = { code: 404, reason: "NotFound" } as const

export const deletion: ReadonlyArray<Case> = [
  {
    title: "deletecollection deletes the selected objects",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 4)
      yield* client.deleteCollection(ConfigMap, { namespace, labelSelector: "even" })
      assert.deepStrictEqual(namesOf(yield* client.list(ConfigMap, { namespace, labelSelector: hasLetter })), [
        "x-b",
        "x-d"
      ])
    })
  },
  {
    title: "deletecollection with a limit deletes a page, and continues with its token",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 5)
      const left: Array<number> = []
      const count = Effect.map(
        client.list(ConfigMap, { namespace, labelSelector: hasLetter }),
        ({ items }) => items.length
      )
      const onPage = () =>
        Effect.asVoid(Effect.orDie(Effect.tap(count, (found) => Effect.sync(() => left.push(found)))))
      const selection = { namespace, labelSelector: hasLetter, limit: 2 }
      yield* client.deleteCollection(Resource.metadataOnly(ConfigMap), selection, { onPage })
      assert.deepStrictEqual([left, yield* count], [[3, 1], 0])
    })
  },
  {
    title: "delete removes an object; a second delete is NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      yield* client.create(ConfigMap, configMap("a"), { namespace })
      const answer = yield* client.delete(ConfigMap, { namespace, name: "a" })
      assert.strictEqual(answer.kind, "Status")
      assert.strictEqual(yield* reason(client.get(ConfigMap, { namespace, name: "a" })), "NotFound")
      assert.strictEqual(yield* reason(client.delete(ConfigMap, { namespace, name: "a" })), "NotFound")
    })
  },
  {
    title: "a delete with a wrong uid or resourceVersion as precondition is a Conflict",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const { metadata } = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const uid = "00000000-0000-0000-0000-000000000000"
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, { preconditions: { uid } })), "Conflict")
      const stale = { preconditions: { resourceVersion: "1" } }
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, stale)), "Conflict")
      yield* client.delete(ConfigMap, target, {
        preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
      })
    })
  },
  {
    title: "a deleted object with finalizers exists until the last one is removed",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      yield* client.create(ConfigMap, { metadata: { name: "a", finalizers: ["test.example/hold"] } }, { namespace })
      const marked = yield* client.delete(ConfigMap, target)
      assert.strictEqual(marked.kind, "ConfigMap")
      const held = yield* client.get(ConfigMap, target)
      assert.isDefined(held.metadata.deletionTimestamp)
      yield* client.update(ConfigMap, { ...held, metadata: { ...held.metadata, finalizers: [] } })
      assert.strictEqual(yield* reason(client.get(ConfigMap, target)), "NotFound")
    })
  },
  {
    title: "a bound pod gets its grace period, which can be shortened but not extended; 0 deletes it at once",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a")))
      done(yield* ask("POST", `${pods}/a/binding`, bind("a", "n")), 201)
      const seconds = (body: any) => body.metadata.deletionGracePeriodSeconds
      assert.strictEqual(seconds(done(yield* ask("DELETE", `${pods}/a`))), 30)
      const later = done(yield* ask("DELETE", `${pods}/a`, deleteOptions({ gracePeriodSeconds: 60 })))
      assert.strictEqual(seconds(later), 30)
      const sooner = done(yield* ask("DELETE", `${pods}/a`, deleteOptions({ gracePeriodSeconds: 5 })))
      assert.strictEqual(seconds(sooner), 5)
      assert.isBelow(Date.parse(sooner.metadata.deletionTimestamp), Date.parse(later.metadata.deletionTimestamp))
      done(yield* ask("DELETE", `${pods}/a?gracePeriodSeconds=0`))
      refused(yield* ask("GET", `${pods}/a`), gone)
    })
  },
  {
    title: "an unbound pod is deleted at once, and the response is the pod",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a")))
      assert.strictEqual(done(yield* ask("DELETE", `${pods}/a`)).kind, "Pod")
      refused(yield* ask("GET", `${pods}/a`), gone)
    })
  },
  {
    title: "the default grace period is terminationGracePeriodSeconds of the pod",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a", { terminationGracePeriodSeconds: 7 })))
      done(yield* ask("POST", `${pods}/a/binding`, bind("a", "n")))
      const marked = done(yield* ask("DELETE", `${pods}/a`))
      assert.strictEqual(marked.metadata.deletionGracePeriodSeconds, 7)
    })
  },
  {
    title: "deletion with finalizers increments the generation, and rejects new finalizers",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const path = `${deployments}/a`
      const made = { ...deployment("a"), metadata: { name: "a", finalizers: ["test.example/hold"] } }
      assert.strictEqual(done(yield* ask("POST", deployments, made)).metadata.generation, 1)
      const { metadata } = done(yield* ask("DELETE", path), 200)
      assert.deepStrictEqual([metadata.generation, metadata.deletionGracePeriodSeconds], [2, 0])
      const more = { metadata: { finalizers: ["test.example/hold", "test.example/new"] } }
      invalid(yield* ask("PATCH", path, more, merge), 'Deployment.apps "a"', [
        "metadata.finalizers",
        "FieldValueForbidden",
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"test.example/new"}'
      ])
      done(yield* ask("PATCH", path, { spec: { replicas: 3 } }, merge))
      const last = done(yield* ask("PATCH", path, { metadata: { finalizers: null } }, merge))
      assert.isDefined(last.metadata.deletionTimestamp)
      refused(yield* ask("GET", path), gone)
    })
  },
  {
    title: "a second deletion of an object that waits for finalizers changes nothing",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, { metadata: { name: "a", finalizers: ["test.example/hold"] } }))
      const first = done(yield* ask("DELETE", `${configMaps}/a`))
      const second = done(yield* ask("DELETE", `${configMaps}/a`))
      assert.deepStrictEqual(second.metadata, first.metadata)
    })
  },
  {
    title: "the policies Foreground and Orphan set finalizers, which the garbage collector removes",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      for (const [policy, finalizer] of [
        ["Foreground", "foregroundDeletion"],
        ["Orphan", "orphan"]
      ] as const) {
        const path = `${deployments}/${policy.toLowerCase()}`
        done(yield* ask("POST", deployments, deployment(policy.toLowerCase())))
        const marked = done(yield* ask("DELETE", path, deleteOptions({ propagationPolicy: policy })))
        assert.strictEqual(marked.kind, "Deployment")
        assert.deepStrictEqual(marked.metadata.finalizers, [finalizer])
        assert.isDefined(marked.metadata.deletionTimestamp)
        done(yield* ask("PATCH", path, { metadata: { finalizers: null } }, merge))
        refused(yield* ask("GET", path), gone)
      }
    })
  },
  {
    title: "Background is the default policy and deletes at once",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      for (const query of ["?propagationPolicy=Background", ""]) {
        done(yield* ask("POST", deployments, deployment("a")))
        const answer = done(yield* ask("DELETE", `${deployments}/a${query}`))
        assert.deepStrictEqual([answer.kind, answer.status], ["Status", "Success"])
        refused(yield* ask("GET", `${deployments}/a`), gone)
      }
    })
  },
  {
    title: "the deprecated option orphanDependents has the effect of Orphan",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a")))
      const marked = done(yield* ask("DELETE", `${configMaps}/a`, deleteOptions({ orphanDependents: true })))
      assert.deepStrictEqual(marked.metadata.finalizers, ["orphan"])
    })
  },
  {
    title: "a second deletion with another policy replaces the finalizer of the first",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a")))
      done(yield* ask("DELETE", `${configMaps}/a?propagationPolicy=Orphan`))
      const again = done(yield* ask("DELETE", `${configMaps}/a?propagationPolicy=Foreground`))
      assert.deepStrictEqual(again.metadata.finalizers, ["foregroundDeletion"])
    })
  },
  {
    title: "the response to a deletion has the name, group, resource and uid of the object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const { metadata } = done(yield* ask("POST", deployments, deployment("a")))
      const { details, status } = done(yield* ask("DELETE", `${deployments}/a`), 200)
      assert.deepStrictEqual(
        { status, details },
        { status: "Success", details: { name: "a", group: "apps", kind: "deployments", uid: metadata.uid } }
      )
    })
  },
  {
    title: "a namespace is Terminating until its finalizer is removed, which only the subresource finalize can do",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const name = `${namespace}-dying`
      const path = `/api/v1/namespaces/${name}`
      const made = done(yield* ask("POST", "/api/v1/namespaces", { metadata: { name } }))
      assert.deepStrictEqual([made.spec.finalizers, made.status.phase], [["kubernetes"], "Active"])
      const marked = done(yield* ask("DELETE", path))
      assert.isDefined(marked.metadata.deletionTimestamp)
      assert.deepStrictEqual([marked.spec.finalizers, marked.status.phase], [["kubernetes"], "Terminating"])
      const kept = done(yield* ask("PATCH", path, { spec: { finalizers: [] } }, merge))
      assert.deepStrictEqual(kept.spec.finalizers, ["kubernetes"])
      done(yield* ask("DELETE", path))
      const { spec: _, ...rest } = made
      const finalized = done(yield* ask("PUT", `${path}/finalize`, { ...rest, metadata: { name }, spec: {} }))
      assert.deepStrictEqual(finalized.spec.finalizers ?? [], [])
      refused(yield* ask("GET", path), gone)
    })
  },
  {
    title: "the server itself does not delete dependents, or the objects of a deleted namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps, deployments, replicaSets } = at(namespace)
      const { metadata } = done(yield* ask("POST", deployments, deployment("a")))
      const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "a", uid: metadata.uid }]
      const owned = { metadata: { name: "a", ownerReferences }, spec: matching }
      done(yield* ask("POST", replicaSets, owned))
      done(yield* ask("DELETE", `${deployments}/a`))
      done(yield* ask("GET", `${replicaSets}/a`))
      done(yield* ask("POST", configMaps, configMap("a")))
      done(yield* ask("DELETE", `/api/v1/namespaces/${namespace}`))
      done(yield* ask("GET", `${configMaps}/a`))
    })
  },
  {
    title: "default, kube-system and kube-public cannot be deleted",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      for (const name of ["default", "kube-system", "kube-public"]) {
        refused(yield* ask("DELETE", `/api/v1/namespaces/${name}`), {
          code: 403,
          reason: "Forbidden",
          message: `namespaces "${name}" is forbidden: this namespace may not be deleted`
        })
      }
    })
  },
  {
    title: "deletecollection by field selector, with a policy, and as a dry run",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      for (const name of ["a", "b", "c"]) done(yield* ask("POST", configMaps, configMap(name, {}, { mine: "yes" })))
      const left = function* () {
        const list = done(yield* ask("GET", `${configMaps}?labelSelector=mine`))
        return list.items.map((item: any) => [item.metadata.name, item.metadata.finalizers])
      }
      done(yield* ask("DELETE", `${configMaps}?fieldSelector=metadata.name%3Da&dryRun=All`))
      assert.strictEqual((yield* left()).length, 3)
      done(yield* ask("DELETE", `${configMaps}?fieldSelector=metadata.name%3Da`))
      done(yield* ask("DELETE", `${configMaps}?fieldSelector=metadata.name%3Db&propagationPolicy=Foreground`))
      assert.deepStrictEqual(yield* left(), [
        ["b", ["foregroundDeletion"]],
        ["c", undefined]
      ])
    })
  },
  {
    title: "an eviction deletes a pod, and is NotFound for a missing pod",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, minor, namespace }) {
      const { pods } = at(namespace)
      const apiVersion = minor < 22 ? "policy/v1beta1" : "policy/v1"
      const eviction = (name: string) => ({ apiVersion, kind: "Eviction", metadata: { name } })
      done(yield* ask("POST", pods, podOf("a")))
      const dry = { ...eviction("a"), deleteOptions: deleteOptions({ dryRun: ["All"] }) }
      done(yield* ask("POST", `${pods}/a/eviction`, dry), 201)
      done(yield* ask("GET", `${pods}/a`))
      const answer = done(yield* ask("POST", `${pods}/a/eviction`, eviction("a")), 201)
      assert.deepStrictEqual([answer.kind, answer.status], ["Status", "Success"])
      refused(yield* ask("GET", `${pods}/a`), gone)
      refused(yield* ask("POST", `${pods}/a/eviction`, eviction("a")), gone)
    })
  },
  {
    title: "an eviction that a disruption budget does not allow is TooManyRequests",
    since: 22,
    rule: "policy/v1 Eviction, from 1.22; the budget is counted by its controller",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
      done(yield* ask("POST", pods, podOf("a", {}, { labels: { app: "a" } })))
      done(yield* ask("POST", `${pods}/a/binding`, bind("a", "n")))
      const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }
      done(yield* ask("PATCH", `${pods}/a/status`, { status: ready }, merge))
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "a" } } }
      done(
        yield* ask("POST", budgets, {
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { name: "b" },
          spec
        })
      )
      const counted = {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1
      }
      done(yield* ask("PATCH", `${budgets}/b/status`, { status: counted }, merge))
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } }
      refused(yield* ask("POST", `${pods}/a/eviction`, eviction), {
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget."
      })
      done(yield* ask("PATCH", `${budgets}/b/status`, { status: { disruptionsAllowed: 1 } }, merge))
      done(yield* ask("POST", `${pods}/a/eviction`, eviction), 201)
      assert.isDefined(done(yield* ask("GET", `${pods}/a`)).metadata.deletionTimestamp)
      const { status } = done(yield* ask("GET", `${budgets}/b`))
      assert.strictEqual(status.disruptionsAllowed, 0)
    })
  }
]

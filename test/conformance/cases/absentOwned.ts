/** Writes: managed fields of empty and absent values. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, containers, deployment, matching } from "../objects.ts"

const ownedBy = (object: any, manager: string): any =>
  object.metadata.managedFields?.find((entry: any) => entry.manager === manager)?.fieldsV1

/** The applied value is empty and therefore not stored, so that each apply adds it again. */
const conflicts = [
  'Apply failed with 2 conflicts: conflicts with "one":',
  "- .spec.paused",
  "- .spec.template.spec.hostNetwork"
].join("\n")

const applied: ReadonlyArray<Case> = [
  {
    title: "apply: a manager owns a false or an empty list that it sends, though it is not stored",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = `${at(namespace).deployments}/a?fieldManager=one`
      const [container] = containers
      const spec = { containers: [{ ...container, args: [], env: [] }], hostNetwork: false, volumes: [] }
      const body = deployment("a", { ...matching, paused: false, template: { ...matching.template, spec } })
      const made = done(yield* ask("PATCH", path, body, applyPatch))
      assert.notProperty(made.spec, "paused")
      for (const key of ["hostNetwork", "volumes"]) assert.notProperty(made.spec.template.spec, key)
      const owned = ownedBy(made, "one")["f:spec"]
      assert.deepStrictEqual([owned["f:paused"], owned["f:template"]["f:spec"]["f:hostNetwork"]], [{}, {}])
      assert.notProperty(owned["f:template"]["f:spec"], "f:volumes")
      const own = owned["f:template"]["f:spec"]["f:containers"]['k:{"name":"main"}']
      assert.deepStrictEqual(own, { ".": {}, "f:args": {}, "f:image": {}, "f:name": {} })
      const other = deployment("a", { template: { spec: { hostNetwork: false } }, paused: false })
      const reply = yield* ask("PATCH", path.replace("=one", "=two"), other, applyPatch)
      refused(reply, { code: 409, reason: "Conflict", message: conflicts })
    })
  },
  {
    title: "apply: a null removes an atomic value, not a merged one; the manager owns a null time",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const labelled = deployment("a", { ...matching, minReadySeconds: 3, paused: true })
      done(yield* ask("POST", deployments, { ...labelled, metadata: { name: "a", labels: { k: "v" } } }))
      const template = { metadata: { creationTimestamp: null, labels: { app: "a" } } }
      const config = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a", labels: null },
        spec: { minReadySeconds: null, paused: null, strategy: null, template }
      }
      const path = `${deployments}/a?fieldManager=one&force=true`
      const after = done(yield* ask("PATCH", path, config, applyPatch))
      assert.deepStrictEqual([after.metadata.labels, after.spec.strategy.type], [{ k: "v" }, "RollingUpdate"])
      for (const key of ["minReadySeconds", "paused"]) assert.notProperty(after.spec, key)
      const owned = ownedBy(after, "one")["f:spec"]
      assert.deepStrictEqual([owned["f:minReadySeconds"], owned["f:paused"]], [{}, {}])
      const metadata = { "f:creationTimestamp": {}, "f:labels": { "f:app": {} } }
      assert.deepStrictEqual(owned["f:template"], { "f:metadata": metadata })
    })
  },
  {
    title: "apply: a manager owns an empty map that it sends, and it is not stored",
    since: 22,
    rule: "structured-merge-diff, the field set of a configuration has its empty maps and nulls",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = `${at(namespace).configMaps}/a?fieldManager=one`
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: {} }
      const made = done(yield* ask("PATCH", path, body, applyPatch))
      assert.notProperty(made, "data")
      assert.deepStrictEqual(ownedBy(made, "one"), { "f:data": {} })
      const again = done(yield* ask("PATCH", path, body, applyPatch))
      assert.strictEqual(again.metadata.resourceVersion, made.metadata.resourceVersion)
    })
  }
]

const created: ReadonlyArray<Case> = [
  {
    title: "zero values of struct fields without pointer have no manager",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const owns = function* (path: string, body: object) {
        return ownedBy(done(yield* ask("POST", path, body)), "conformance")
      }
      const a = { metadata: { name: "a" } }
      assert.isUndefined(yield* owns(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, a))
      assert.isUndefined(yield* owns(at(namespace).limits, a))
      const priority = { metadata: { name: namespace }, value: 0 }
      const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
      assert.deepStrictEqual(yield* owns(classes, priority), { "f:preemptionPolicy": {} })
      const policies = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
      assert.deepStrictEqual(yield* owns(policies, { ...a, spec: { podSelector: {}, policyTypes: ["Ingress"] } }), {
        "f:spec": { "f:policyTypes": {} }
      })
    })
  }
]

export const absentOwned: ReadonlyArray<Case> = [...applied, ...created]

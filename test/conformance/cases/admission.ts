/** Built-in admission: namespaces, limit ranges, quotas. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { applyPatch, done, merge, refused } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at, podOf } from "../objects.ts"
import { counted } from "./quotas.ts"

const forbidden = (message: string) => ({ code: 403, reason: "Forbidden", message }) as const

const cpu = (resources: object) => ({ containers: [{ name: "main", image: "registry.example/app:1", resources }] })

export const admission: ReadonlyArray<Case> = [
  {
    title: "create in a namespace that does not exist is NotFound and names the namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.create(ConfigMap, configMap("a"), { namespace: `${namespace}-none` }))
      assert.strictEqual(error.reason._tag, "NotFound")
      assert.include(error.detail, `namespaces "${namespace}-none" not found`)
    })
  },
  {
    title: "creates fail in a terminating namespace; updates and deletions succeed",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("old")))
      done(yield* ask("DELETE", `/api/v1/namespaces/${namespace}`))
      const reply = yield* ask("POST", configMaps, configMap("a"))
      const because = `unable to create new content in namespace ${namespace} because it is being terminated`
      refused(reply, {
        ...forbidden(`configmaps "a" is forbidden: ${because}`),
        details: {
          name: "a",
          kind: "configmaps",
          causes: [
            {
              reason: "NamespaceTerminating",
              message: `namespace ${namespace} is being terminated`,
              field: "metadata.namespace"
            }
          ]
        }
      })
      done(yield* ask("PATCH", `${configMaps}/old`, { data: { k: "1" } }, merge))
      done(yield* ask("DELETE", `${configMaps}/old`))
    })
  },
  {
    title: "an apply and a dry run also fail in a missing namespace",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(`${namespace}-none`)
      const missing = { code: 404, reason: "NotFound", message: `namespaces "${namespace}-none" not found` } as const
      refused(yield* ask("POST", `${configMaps}?dryRun=All`, configMap("a")), missing)
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }
      refused(yield* ask("PATCH", `${configMaps}/a?fieldManager=m`, object, applyPatch), missing)
    })
  },
  {
    title: "a LimitRange sets default requests and limits, and an annotation",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { limits, pods } = at(namespace)
      const spec = { limits: [{ type: "Container", default: { cpu: "500m" }, defaultRequest: { cpu: "100m" } }] }
      done(yield* ask("POST", limits, { metadata: { name: "l" }, spec }))
      const made = done(yield* ask("POST", pods, podOf("a")))
      const { resources } = made.spec.containers[0]
      assert.deepStrictEqual(resources, { limits: { cpu: "500m" }, requests: { cpu: "100m" } })
      assert.strictEqual(
        made.metadata.annotations["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
      )
      const own = done(yield* ask("POST", pods, podOf("b", cpu({ requests: { cpu: "200m" } }))))
      assert.strictEqual(own.spec.containers[0].resources.requests.cpu, "200m")
    })
  },
  {
    title: "a LimitRange rejects values above its maximum or below its minimum",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { limits, pods } = at(namespace)
      const spec = { limits: [{ type: "Container", max: { cpu: "2" }, min: { cpu: "50m" }, default: { cpu: "1" } }] }
      done(yield* ask("POST", limits, { metadata: { name: "l" }, spec }))
      refused(
        yield* ask("POST", pods, podOf("a", cpu({ limits: { cpu: "3" } }))),
        forbidden('pods "a" is forbidden: maximum cpu usage per Container is 2, but limit is 3')
      )
      refused(
        yield* ask("POST", pods, podOf("a", cpu({ requests: { cpu: "10m" } }))),
        forbidden('pods "a" is forbidden: minimum cpu usage per Container is 50m, but request is 10m')
      )
      done(yield* ask("POST", pods, podOf("a", cpu({ requests: { cpu: "1" }, limits: { cpu: "2" } }))))
    })
  },
  {
    title: "a quota with a status is charged for creates, and rejects those that exceed it",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const used = yield* counted(ask, namespace, { configmaps: "1" })
      done(yield* ask("POST", `${configMaps}?dryRun=All`, configMap("a")))
      done(yield* ask("POST", configMaps, configMap("a")))
      refused(
        yield* ask("POST", configMaps, configMap("b")),
        forbidden(
          'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1'
        )
      )
      assert.deepStrictEqual(yield* used, { configmaps: "1" })
    })
  },
  {
    title: "a new namespace has a label with its name",
    since: 21,
    rule: "KEP-2161: kubernetes.io/metadata.name, from 1.21",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { metadata } = done(yield* ask("GET", `/api/v1/namespaces/${namespace}`))
      assert.deepStrictEqual(metadata.labels, { "kubernetes.io/metadata.name": namespace })
    })
  }
]

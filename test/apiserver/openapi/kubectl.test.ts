/**
 * kubectl with validation enabled against the embedded server over HTTPS: create, apply and explain use OpenAPI. Servers that
 * hide version 3 and server-side validation replace old servers.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Api } from "../../../src/apiserver/Api.ts"
import { cluster, missing } from "./kubectl.ts"

if (missing !== undefined) console.log(`skipped: kubectl with validation, because there is ${missing}`)

const deployment = (spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "web:1", ports: [{ containerPort: 80 }] }] }
    },
    ...spec
  }
})
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "one" },
  spec: { containers: [{ name: "c", image: "i" }] }
}
const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { a: "b" } }

/** As a server before 1.24: clients find version 2 only. */
const withoutV3 = (api: Api): Api => ({
  ...api,
  handle: (request) => api.handle(request.path === "/openapi/v3" ? { ...request, path: "/openapi/none" } : request)
})

/** As a server before 1.25: clients validate by themselves. */
const withoutValidation = (api: Api): Api => ({
  ...api,
  handle: (request) =>
    Effect.map(withoutV3(api).handle(request), (answer) =>
      answer._tag === "Answer" && request.path === "/openapi/v2"
        ? { ...answer, body: answer.body.replaceAll('"fieldValidation"', '"unheardOf"') }
        : answer
    )
})

describe.skipIf(missing !== undefined)("kubectl, with validation", () => {
  it.live("creates and applies", () =>
    Effect.gen(function* () {
      const { calls, done } = yield* cluster()
      for (const object of [pod, configMap]) yield* done("create -f -", object)
      assert.strictEqual(yield* done("apply -f -", deployment()), "deployment.apps/web created\n")
      assert.strictEqual(yield* done("apply -f -", deployment({ replicas: 2 })), "deployment.apps/web configured\n")
      assert.strictEqual(yield* done("apply -f -", deployment({ replicas: 2 })), "deployment.apps/web unchanged\n")
      assert.strictEqual(yield* done("apply --server-side -f -", configMap), "configmap/settings serverside-applied\n")
      assert.strictEqual(yield* done("get deployment web -o jsonpath={.spec.replicas}"), "2")
      const writes = calls.filter(({ method }) => method === "POST" || method === "PATCH")
      assert.isTrue(
        writes.every(
          ({ headers, query }) =>
            headers["content-type"]?.includes("apply-patch") === true || query.get("fieldValidation") === "Strict"
        )
      )
    })
  )

  it.live("rejects a manifest with an unknown field, naming it", () =>
    Effect.gen(function* () {
      const { done, kubectl } = yield* cluster()
      const typo = deployment({ replicsa: 3 })
      const created = yield* kubectl("create -f -", typo)
      assert.strictEqual(created.code, 1)
      assert.include(created.stderr, 'strict decoding error: unknown field "spec.replicsa"')
      yield* done("apply -f -", deployment())
      const applied = yield* kubectl("apply -f -", typo)
      assert.include(applied.stderr, 'strict decoding error: unknown field "spec.replicsa"')
      const server = yield* kubectl("apply --server-side --force-conflicts -f -", typo)
      assert.include(server.stderr, ".spec.replicsa: field not declared in schema")
      assert.deepStrictEqual([applied.code, server.code], [1, 1])
      const warned = yield* kubectl("apply --validate=warn -f -", typo)
      assert.deepStrictEqual([warned.code, warned.stderr], [0, 'Warning: unknown field "spec.replicsa"\n'])
      const wrong = yield* kubectl("create -f -", { ...pod, spec: { containers: [{ name: 5, image: "i" }] } })
      assert.include(
        wrong.stderr,
        "cannot unmarshal number into Go struct field Container.spec.containers.name of type string"
      )
    })
  )

  it.live("explains kinds and fields from version 3 and from version 2", () =>
    Effect.gen(function* () {
      const { done } = yield* cluster()
      for (const output of ["plaintext", "plaintext-openapiv2"]) {
        const containers = yield* done(`explain pod.spec.containers --output=${output}`)
        assert.match(containers, /KIND: +Pod\nVERSION: +v1\n/)
        assert.match(containers, /containers <\[\](Container|Object)>/)
        assert.match(containers, /image\t<string>\n +The image, such as/)
        const strategy = yield* done(`explain deployment.spec.strategy --output=${output}`)
        assert.match(strategy, /rollingUpdate\t<\w+>\n +\w/)
        const metrics = yield* done(`explain hpa.spec.metrics --output=${output} --api-version=autoscaling/v2`)
        for (const text of [containers, strategy, metrics]) assert.notInclude(text, "<no description>")
        const all = yield* done(`explain deployment --recursive --output=${output}`)
        assert.match(all, /replicas\t<integer>/)
        assert.match(all, /maxSurge\t<(IntOrString|string)>/)
        assert.match(all, /limits\t<map\[string\](Quantity|string)>/)
      }
      assert.match(yield* done("explain leases.spec.renewTime"), /<(MicroTime|string)>/)
      assert.match(
        yield* done("explain cronjobs.spec.jobTemplate.spec.template.spec.volumes.configMap"),
        /defaultMode\t<integer>/
      )
    })
  )

  it.live("detects server-side validation from version 2 without version 3", () =>
    Effect.gen(function* () {
      const { calls, done, kubectl } = yield* cluster(withoutV3)
      yield* done("create -f -", deployment())
      assert.include((yield* kubectl("create -f -", { ...pod, spc: {} })).stderr, 'unknown field "spc"')
      assert.isTrue(calls.some(({ path }) => path === "/openapi/v2"))
    })
  )

  it.live("validates client-side by version 2, as old releases do", () =>
    Effect.gen(function* () {
      const { calls, done, kubectl } = yield* cluster(withoutValidation)
      for (const object of [pod, configMap]) yield* done("create -f -", object)
      yield* done("apply -f -", deployment({ strategy: { rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } } }))
      const typo = yield* kubectl("create -f -", deployment({ replicsa: 3 }))
      assert.strictEqual(typo.code, 1)
      assert.include(typo.stderr, 'unknown field "replicsa" in io.k8s.api.apps.v1.DeploymentSpec')
      const incomplete = yield* kubectl("create -f -", { ...deployment(), spec: {} })
      assert.include(incomplete.stderr, 'missing required field "selector" in io.k8s.api.apps.v1.DeploymentSpec')
      const wrong = yield* kubectl("create -f -", deployment({ replicas: "two" }))
      assert.include(wrong.stderr, "invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas")
      // Refused before anything was sent.
      assert.strictEqual(calls.filter(({ method }) => method === "POST").length, 3)
    })
  )
})

/** apiregistration.k8s.io: one APIService for each group and version that is served. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, get, layer, names, post, refused, same } from "../client.ts"

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"
const table = "application/json;as=Table;v=v1;g=meta.k8s.io"

const definition = {
  metadata: { name: "widgets.example.test" },
  spec: {
    group: "example.test",
    names: { plural: "widgets", kind: "Widget" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
  }
}

it.effect("there is a local APIService for each group and version, that of a custom resource included", () =>
  Effect.gen(function* () {
    const before = yield* get(apiServices)
    same(
      ["v1.", "v1.apps", "v2.autoscaling", "v1.apiregistration.k8s.io", "v1beta1.metrics.k8s.io"].filter(
        (name) => !names(before).includes(name)
      ),
      []
    )
    yield* post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    const after = yield* get(apiServices)
    same(
      names(after).filter((name) => !names(before).includes(name)),
      ["v1.example.test"]
    )
    same((yield* get(`${apiServices}/v1.apps`)).spec, {
      group: "apps",
      groupPriorityMinimum: 17_800,
      version: "v1",
      versionPriority: 15
    })
    same((yield* get(apiServices, { fieldSelector: "metadata.name=v1.apps" }, table)).rows[0].cells, [
      "v1.apps",
      "Local",
      "True",
      "0s"
    ])
    same(names(yield* get(apiServices, { labelSelector: "kube-aggregator.kubernetes.io/automanaged=true" })), [
      "v1.example.test"
    ])
  }).pipe(Effect.provide(layer({ metrics: true })))
)

it.effect("APIServices cannot be written or watched, and one that is not there is not found", () =>
  Effect.gen(function* () {
    same((yield* refused(get(`${apiServices}/v1.none`))).status, 404)
    same((yield* refused(get(apiServices, { watch: true }))).status, 405)
    for (const method of ["PUT", "PATCH", "DELETE"] as const)
      same((yield* refused(call(method, `${apiServices}/v1.apps`, {}))).status, 405)
    same((yield* refused(post(apiServices, {}))).status, 405)
  }).pipe(Effect.provide(layer()))
)

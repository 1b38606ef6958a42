/** A reference is final as missing, although the cache of its kind only lags behind. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import type { Bug } from "../Bug.ts"

const Task = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Task",
  plural: "tasks",
  subresources: { status: true },
  spec: Schema.Struct({ settings: Schema.String }),
  status: Schema.Struct({ phase: Schema.Literals(["Running", "Failed"]) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "task",
    for: Task,
    access: [Access.read(ConfigMap), Access.patch(Task, "status")],
    reconcileObject: ({ metadata: { name, namespace = "" }, spec, status }, { cache, client }) =>
      Effect.gen(function* () {
        if (status !== undefined) return Reconcile.done
        const settings = yield* cache.get(ConfigMap, Key.make(namespace, spec.settings))
        if (settings === undefined && isRepaired) return Reconcile.after("10 seconds")
        const phase = settings === undefined ? "Failed" : "Running"
        yield* client.subresource("status").patch(Task, { namespace, name }, Patch.merge({ status: { phase } }))
        return Reconcile.done
      })
  })

export const bug: Bug = {
  title: "a reference that is not in the cache yet fails an object for ever",
  sources: [
    "https://github.com/kubernetes-sigs/mcp-lifecycle-operator/issues/92",
    "https://github.com/scylladb/scylla-operator/issues/2492"
  ],
  write: "patch tasks.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("absence-is-final", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "settings" } },
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Task",
              metadata: { namespace: "default", name: "a" },
              spec: { settings: "settings" }
            }
          ])
        })
    })
}

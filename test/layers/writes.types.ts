/**
 * What must compile and what must not: the helpers require the grants that they use. Checked by `npm run typecheck`; this file never runs.
 */
import * as Effect from "effect/Effect"
import * as Access from "../../src/kube/Access.ts"
import { ConfigMap, Node, Pod, Secret } from "../../src/kube/resources.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { applier } from "../../src/layers/controller/writes/apply.ts"
import { createOrUpdate } from "../../src/layers/controller/writes/createOrUpdate.ts"
import { finalize } from "../../src/layers/controller/writes/finalize.ts"

const metadata = { name: "a", namespace: "b" }

export const writing = Controller.make({
  name: "writing",
  for: Pod,
  owns: [Secret],
  access: [
    Access.create(Pod),
    Access.patch(Pod),
    Access.patch(Pod, "status"),
    Access.patch(Node),
    Access.create(Secret),
    Access.update(Secret),
    Access.create(ConfigMap),
    Access.update(ConfigMap)
  ],
  reconcile: ({ key }, tools) =>
    Effect.gen(function* () {
      const pod = yield* tools.cache.get(Pod, key)
      if (pod === undefined) return
      const { apply, applyStatus } = applier(tools.client)
      const node: string | undefined = (yield* apply(Pod, { metadata })).spec?.nodeName
      yield* applyStatus(Pod, pod, { phase: "Running" })
      const written = yield* createOrUpdate(tools, {
        resource: Secret,
        ...metadata,
        mutate: (current) => ({ metadata, type: current?.type ?? "Opaque" })
      })
      const type: string | undefined = written.object.type
      const object = yield* finalize(tools.client, {
        resource: Pod,
        object: pod,
        finalizers: { "example.com/a": ({ spec }) => Effect.log(spec?.nodeName) }
      })
      const name: string | undefined = object?.spec?.nodeName

      // @ts-expect-error: no patch of secrets was declared
      void apply(Secret, { metadata })
      // @ts-expect-error: nodes may be patched, but an apply may create one
      void apply(Node, { metadata })
      // @ts-expect-error: nor of the status of secrets
      void applyStatus(Secret, written.object, {})
      // @ts-expect-error: an object has a name
      void apply(Pod, { metadata: {} })
      // @ts-expect-error: a pod's status has no such field
      void applyStatus(Pod, pod, { phases: "Running" })
      // @ts-expect-error: config maps may be written, but not read
      void createOrUpdate(tools, { resource: ConfigMap, ...metadata, mutate: () => ({ metadata }) })
      // @ts-expect-error: pods may be read and created, but not updated
      void createOrUpdate(tools, { resource: Pod, ...metadata, mutate: () => ({ metadata }) })
      // @ts-expect-error: no patch of secrets was declared
      void finalize(tools.client, { resource: Secret, object: written.object, finalizers: {} })
      return yield* Effect.log(node, type, name)
    })
})

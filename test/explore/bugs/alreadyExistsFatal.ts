/** A creation that fails where the object exists, so that nothing after it is done any more. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Login = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Login",
  plural: "logins",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ secret: Schema.optionalKey(Schema.String) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "login",
    for: Login,
    access: [Access.create(Secret), Access.get(Secret), Access.patch(Login, "status")],
    reconcileObject: (login, { client }) =>
      Effect.gen(function* () {
        if (login.status?.secret !== undefined) return
        const { name, namespace = "" } = login.metadata
        const ownerReferences = [Owner.reference(Login, login)]
        const created = client.create(Secret, { metadata: { namespace, name, ownerReferences } })
        // It may be the one that an earlier run has created. That of an older object with the same name is deleted soon.
        const present = Effect.filterOrFail(client.get(Secret, { namespace, name }), (secret) =>
          Owner.controlledBy(secret, login.metadata.uid)
        )
        yield* isRepaired ? Effect.catchReason(created, "ApiError", "AlreadyExists", () => present) : created
        yield* client.subresource("status").patch(Login, { namespace, name }, Patch.merge({ status: { secret: name } }))
      })
  })

export const bug: Bug = {
  title: "nothing goes on after a lost response because what was created exists already",
  sources: [
    "https://github.com/infinispan/infinispan-operator/issues/203",
    "https://github.com/infinispan/infinispan-operator/issues/217"
  ],
  write: "create secrets",
  explore: (isRepaired) =>
    explore("already-exists-fatal", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Login, metadata: { name: a }, spec: {} }")
    })
}

/** Permissions for owner references, on the object and its owner. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, matching } from "../objects.ts"
import { grant, rule } from "../roles.ts"

const forbidden = { code: 403, reason: "Forbidden" }
const merge = { contentType: "application/merge-patch+json" }

/** A ConfigMap that is an owner, and references to it. */
const owned = (owner: { readonly metadata: { readonly name: string; readonly uid: string } }) => {
  const { name, uid } = owner.metadata
  const plain = { apiVersion: "v1", kind: "ConfigMap", name, uid }
  return { plain, blocking: { ...plain, blockOwnerDeletion: true } }
}

export const owners: ReadonlyArray<Case> = [
  {
    title: "blockOwnerDeletion requires the permission to update finalizers of the owner",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { configMaps, deployments } = at(namespace)
      const { blocking, plain } = owned(done(yield* ask("POST", configMaps, { metadata: { name: "owner" } })))
      const make = (name: string, ...ownerReferences: ReadonlyArray<object>) =>
        ask("POST", deployments, { metadata: { name, ownerReferences }, spec: matching }, { as: { user } })
      yield* grant(ask, { user, namespace, name: "r" }, rule("apps", "deployments", "create"))
      done(yield* make("a", plain), 201)
      refused(yield* make("b", blocking), {
        ...forbidden,
        message:
          'deployments.apps "b" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>'
      })
      refused(yield* make("b", { ...blocking, kind: "None" }), {
        ...forbidden,
        message:
          /cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind None/
      })
      yield* grant(
        ask,
        { user, namespace, name: "s" },
        {
          ...rule("", "configmaps/finalizers", "update", "owner")
        }
      )
      done(yield* make("b", blocking), 201)
      refused(yield* make("c", blocking, { ...blocking, name: "other", uid: "other" }), forbidden)
      done(yield* ask("POST", deployments, { metadata: { name: "c", ownerReferences: [blocking] }, spec: matching }))
    })
  },
  {
    title:
      "changing the owner references of an existing object requires the permission to delete it; other changes do not",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const user = `bob-${namespace}`
      const { configMaps, secrets } = at(namespace)
      const { blocking, plain } = owned(done(yield* ask("POST", configMaps, { metadata: { name: "owner" } })))
      done(yield* ask("POST", secrets, { metadata: { name: "a" } }), 201)
      const change = (metadata: object) => ask("PATCH", `${secrets}/a`, { metadata }, { as: { user }, ...merge })
      yield* grant(ask, { user, namespace, name: "r" }, rule("", "secrets", "patch"))
      refused(yield* change({ ownerReferences: [plain] }), {
        ...forbidden,
        message: 'secrets "a" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>'
      })
      yield* grant(ask, { user, namespace, name: "s" }, rule("", "secrets", "delete"))
      done(yield* change({ ownerReferences: [plain] }), 200)
      refused(yield* change({ ownerReferences: [blocking] }), {
        ...forbidden,
        message: /can't set finalizers on/
      })
      done(yield* ask("PATCH", `${secrets}/a`, { metadata: { ownerReferences: [blocking] } }, merge), 200)
      // blockOwnerDeletion is set already.
      done(yield* change({ ownerReferences: [{ ...blocking, controller: true }], labels: { a: "b" } }), 200)
      done(yield* change({ ownerReferences: [plain] }), 200)
      assert.deepStrictEqual(done(yield* change({ ownerReferences: null })).metadata.ownerReferences, undefined)
    })
  }
]

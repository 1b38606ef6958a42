/** Errors: their Status objects, word for word. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import { done, merge, refused } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at, deployment } from "../objects.ts"

const raw = (transport: Transport["Service"], path: string, accept?: string) =>
  transport.send({ method: "GET", path, accept, context: { verb: "raw", path } })

const notAllowed = {
  code: 405,
  reason: "MethodNotAllowed",
  message: "the server does not allow this method on the requested resource"
} as const

const nowhere = {
  code: 404,
  reason: "NotFound",
  message: "the server could not find the requested resource"
} as const

export const errors: ReadonlyArray<Case> = [
  {
    title: "a create without a namespace in the path is MethodNotAllowed",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      const path = "/api/v1/configmaps"
      const body = configMap("a")
      const call = transport.send({ method: "POST", path, body, context: { verb: "create", path } })
      assert.strictEqual((yield* Effect.flip(call)).reason._tag, "MethodNotAllowed")
    })
  },
  {
    title: "the NotFound errors of a missing object and of a missing resource differ",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const object = yield* Effect.flip(client.get(ConfigMap, { namespace, name: "none" }))
      assert.strictEqual(object.reason._tag, "NotFound")
      assert.isFalse(ApiError.isMissingResource(object))
      const Widget = Resource.make()({ group: "none.example", version: "v1", kind: "Widget", plural: "widgets" })
      const resource = yield* Effect.flip(client.get(Widget, { namespace, name: "a" }))
      assert.strictEqual(resource.reason._tag, "NotFound")
      assert.isTrue(ApiError.isMissingResource(resource))
    })
  },
  {
    title: "an unknown path is NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ transport }) {
      for (const path of ["/nowhere", "/apis/none.example", "/api/v1/nonsense", "/api/v2/pods"]) {
        assert.strictEqual((yield* Effect.flip(raw(transport, path))).reason._tag, "NotFound", path)
      }
    })
  },
  {
    title: "404: message and details for a missing object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps, deployments } = at(namespace)
      refused(yield* ask("GET", `${configMaps}/none`), {
        code: 404,
        reason: "NotFound",
        message: 'configmaps "none" not found',
        details: { name: "none", kind: "configmaps" }
      })
      refused(yield* ask("DELETE", `${deployments}/none`), {
        code: 404,
        reason: "NotFound",
        message: 'deployments.apps "none" not found',
        details: { name: "none", group: "apps", kind: "deployments" }
      })
    })
  },
  {
    title: "404: a kind, a version and a subresource that are not served",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      for (const path of [
        "/apis/apps/v2/deployments",
        `/api/v1/namespaces/${namespace}/nodes`,
        `${at(namespace).configMaps}/a/status`
      ]) {
        refused(yield* ask("GET", path), nowhere)
      }
    })
  },
  {
    title: "409 AlreadyExists and 409 Conflict have different reasons",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const made = done(yield* ask("POST", deployments, deployment("a")), 201)
      refused(yield* ask("POST", deployments, deployment("a")), {
        code: 409,
        reason: "AlreadyExists",
        message: 'deployments.apps "a" already exists',
        details: { name: "a", group: "apps", kind: "deployments" }
      })
      done(yield* ask("PATCH", `${deployments}/a`, { spec: { replicas: 2 } }, merge))
      refused(yield* ask("PUT", `${deployments}/a`, made), {
        code: 409,
        reason: "Conflict",
        message:
          'Operation cannot be fulfilled on deployments.apps "a": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: "a", group: "apps", kind: "deployments" }
      })
    })
  },
  {
    title: "409: failed preconditions of a deletion have both values",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const { metadata } = done(yield* ask("POST", configMaps, configMap("a")))
      const options = (preconditions: object) => ({ apiVersion: "v1", kind: "DeleteOptions", preconditions })
      refused(yield* ask("DELETE", `${configMaps}/a`, options({ uid: "other" })), {
        code: 409,
        reason: "Conflict",
        message: new RegExp(
          `the UID in the precondition \\(other\\) does not match the UID in record \\(${metadata.uid}\\)\\. The object might have been deleted and then recreated$`
        )
      })
      refused(yield* ask("DELETE", `${configMaps}/a`, options({ resourceVersion: "1" })), {
        code: 409,
        reason: "Conflict",
        message: new RegExp(
          `the ResourceVersion in the precondition \\(1\\) does not match the ResourceVersion in record \\(${metadata.resourceVersion}\\)\\. The object might have been modified$`
        )
      })
    })
  },
  {
    title: "405: a verb that a collection or an object does not support",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a")))
      refused(yield* ask("PUT", configMaps, configMap("a")), notAllowed)
      refused(yield* ask("PATCH", configMaps, {}, merge), notAllowed)
      refused(yield* ask("POST", `${configMaps}/a`, configMap("a")), notAllowed)
      refused(yield* ask("DELETE", "/api/v1/configmaps"), notAllowed)
      refused(yield* ask("DELETE", "/api/v1/namespaces"), notAllowed)
    })
  },
  {
    title: "406: a representation that the server does not support",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      for (const accept of ["text/html", "application/json;as=Bogus;g=meta.k8s.io;v=v1"]) {
        refused(yield* ask("GET", configMaps, undefined, { accept }), { code: 406, reason: "NotAcceptable" })
      }
      const several = "text/html, application/json;q=0.9"
      done(yield* ask("GET", configMaps, undefined, { accept: several }))
    })
  },
  {
    title: "415: a body of an unknown media type",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      for (const contentType of ["text/plain", "application/xml"]) {
        refused(yield* ask("POST", configMaps, configMap("a"), { contentType }), {
          code: 415,
          reason: "UnsupportedMediaType",
          message: /^the body of the request was in an unknown format - accepted media types include: application\/json/
        })
      }
    })
  },
  {
    title: "an error Status has empty metadata, and the code of the response",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { body } = yield* ask("GET", `${at(namespace).pods}/none`)
      assert.deepStrictEqual(Object.keys(body).sort(), [
        "apiVersion",
        "code",
        "details",
        "kind",
        "message",
        "metadata",
        "reason",
        "status"
      ])
      assert.deepStrictEqual(body.metadata, {})
    })
  }
]

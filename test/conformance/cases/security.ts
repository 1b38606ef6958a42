/** Security: credentials, limits, hostile bodies. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Resource from "../../../src/kube/Resource.ts"
import { Pod } from "../../../src/kube/resources.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import { applyPatch, done, jsonPatch, merge, refused, strategic } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at } from "../objects.ts"

/** Names of prototype members. */
const hostile = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]

export const security: ReadonlyArray<Case> = [
  {
    title: "a wrong token is Unauthorized; a request without a token is Unauthorized or Forbidden",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, namespace }) {
      const path = Resource.path(Pod, { namespace })
      const list = (transport: Transport["Service"]) =>
        Effect.flip(
          transport.send({ method: "GET", path, context: { verb: "list", path, resource: "pods", namespace } })
        )
      assert.strictEqual((yield* list(yield* as("wrong"))).reason._tag, "Unauthorized")
      const anonymous = yield* list(yield* as(undefined))
      assert.include(["Unauthorized", "Forbidden"], anonymous.reason._tag)
      const watch = Stream.runDrain(
        (yield* as("wrong")).watch({ method: "GET", path, query: { watch: true }, context: { verb: "watch", path } })
      )
      assert.strictEqual((yield* Effect.flip(watch)).reason._tag, "Unauthorized")
    })
  },
  {
    title: "an escaped slash is part of the name, not of the path",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.get(Pod, { namespace, name: "../nodes" }))
      assert.include(["NotFound", "BadRequest"], error.reason._tag)
      assert.include(Resource.path(Pod, { namespace, name: "../nodes" }), "..%2Fnodes")
    })
  },
  {
    title: "__proto__, constructor and the like are plain keys in bodies of every kind",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const data = Object.fromEntries(hostile.map((key) => [key, "1"]))
      const same = (body: any, expected: object) =>
        assert.sameDeepMembers(Object.entries(body.data), Object.entries(expected))
      same(done(yield* ask("POST", configMaps, { metadata: { name: "a" }, data })), data)
      same(done(yield* ask("GET", `${configMaps}/a`)), data)
      done(yield* ask("POST", configMaps, configMap("b", { k: "1" })))
      const pairs = JSON.stringify(data)
      for (const options of [merge, strategic]) {
        done(yield* ask("PATCH", `${configMaps}/b`, `{"data":null}`, options))
        same(done(yield* ask("PATCH", `${configMaps}/b`, `{"data":${pairs}}`, options)), data)
      }
      const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":${pairs}}`
      same(done(yield* ask("PATCH", `${configMaps}/c?fieldManager=m`, object, applyPatch)), data)
    })
  },
  {
    title: "__proto__ in a JSON patch is a plain member",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      const add = [{ op: "add", path: "/data/__proto__", value: "2" }]
      const after = done(yield* ask("PATCH", `${configMaps}/a`, add, jsonPatch))
      assert.sameDeepMembers(Object.entries(after.data), [
        ["__proto__", "2"],
        ["k", "1"]
      ])
      const deep = [{ op: "add", path: "/data/constructor/prototype/polluted", value: "x" }]
      refused(yield* ask("PATCH", `${configMaps}/a`, deep, jsonPatch), { code: 422, reason: "Invalid" })
      assert.isUndefined(({} as Record<string, unknown>)["polluted"])
    })
  },
  {
    title: "labels and annotations can have the names of prototype members",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a", {}, { constructor: "x" })))
      const select = (selector: string) =>
        Effect.map(ask("GET", `${configMaps}?labelSelector=${selector}`), (reply) => done(reply).items.length)
      assert.deepStrictEqual([yield* select("constructor"), yield* select("constructor=x")], [1, 1])
      assert.deepStrictEqual([yield* select("toString"), yield* select("valueOf")], [0, 0])
    })
  },
  {
    title: "a body of more than 3 MiB is 413",
    since: 20,
    needs: "HTTP front",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const body = configMap("a", { k: "x".repeat(3 * 1024 * 1024) })
      refused(yield* ask("POST", at(namespace).configMaps, body), {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: /^Request entity too large: limit is 3145728$/
      })
      const list = done(yield* ask("GET", `${at(namespace).configMaps}?fieldSelector=metadata.name%3Da`))
      assert.deepStrictEqual(list.items, [])
    })
  },
  {
    title: "YAML bodies are accepted; malformed ones are 400",
    since: 20,
    needs: "HTTP front",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const options = { contentType: "application/yaml" }
      const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: 'yes'\n"
      assert.deepStrictEqual(done(yield* ask("POST", configMaps, text, options), 201).data, { k: "yes" })
      refused(yield* ask("POST", configMaps, "a: [", options), { code: 400, reason: "BadRequest" })
    })
  },
  {
    title: "a path with invalid escapes is a 4xx, not a 5xx",
    since: 20,
    needs: "HTTP front",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const reply = yield* ask("GET", `/api/v1/namespaces/${namespace}/configmaps/%zz`)
      assert.include([400, 404], reply.status)
      assert.strictEqual((yield* ask("GET", "/readyz")).status, 200)
    })
  },
  {
    title: "a body that is nested ten thousand levels deep does not crash the server",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"nonsense":${deep}}`
      const reply = yield* ask("POST", at(namespace).configMaps, body)
      assert.include([201, 400], reply.status)
      assert.strictEqual((yield* ask("GET", "/readyz")).status, 200)
    })
  },
  {
    title: "401 is a Status without details",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* ({ as, namespace }) {
      const path = at(namespace).pods
      const context = { verb: "list", path }
      const error = yield* Effect.flip((yield* as("wrong")).send({ method: "GET", path, context }))
      assert.deepStrictEqual([error.status, error.reason._tag, error.detail], [401, "Unauthorized", "Unauthorized"])
    })
  }
]

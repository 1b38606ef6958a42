/** Errors: 400 for a request that cannot be decoded, and 422 for one that is invalid. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { applyPatch, done, invalid, merge, refused } from "../assertions.ts"
import { type Case, configMap } from "../Case.ts"
import { at, deployment, matching, podOf } from "../objects.ts"

export const badRequests: ReadonlyArray<Case> = [
  {
    title: "400: a body that is empty, malformed, or not an object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      for (const body of ["", "{broken", "[]", '"text"', "null"]) {
        const message = body === "null" ? /./ : /^the object provided is unrecognized \(must be of type ConfigMap\): /
        const reply = yield* ask("POST", at(namespace).configMaps, body)
        if (body === "null" && reply.status === 422) continue
        refused(reply, { code: 400, reason: "BadRequest", message })
      }
    })
  },
  {
    title: "400: an object of another kind, or of another version",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      refused(yield* ask("POST", configMaps, podOf("a")), {
        code: 400,
        reason: "BadRequest",
        message: /^Pod in version "v1" cannot be handled as a ConfigMap/
      })
      const reply = yield* ask("POST", configMaps, { ...configMap("a"), apiVersion: "v2", kind: "ConfigMap" })
      refused(reply, { code: 400, reason: "BadRequest" })
    })
  },
  {
    title: "400: a field of the wrong type",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments, leases, pods } = at(namespace)
      const broken: ReadonlyArray<readonly [string, object, RegExp]> = [
        [pods, podOf("a", { containers: "no" }), /^Pod in version "v1" cannot be handled as a Pod: /],
        [pods, podOf("a", {}, { labels: { n: 5 } }), /^Pod in version "v1" cannot be handled as a Pod: /],
        [deployments, deployment("a", { ...matching, replicas: "3" }), /^Deployment in version "v1" cannot be handled/],
        [leases, { metadata: { name: "a" }, spec: { renewTime: "nonsense" } }, /parsing time \\?"+nonsense\\?"/]
      ]
      for (const [path, object, message] of broken) {
        refused(yield* ask("POST", path, object), { code: 400, reason: "BadRequest", message })
      }
    })
  },
  {
    title: "400: a name or namespace that is not that of the path",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const other = { metadata: { name: "a", namespace: "other" } }
      refused(yield* ask("POST", configMaps, other), {
        code: 400,
        reason: "BadRequest",
        message: "the namespace of the provided object does not match the namespace sent on the request"
      })
      done(yield* ask("POST", configMaps, configMap("a")))
      for (const [method, body, options] of [
        ["PUT", configMap("b"), undefined],
        ["PATCH", { metadata: { name: "b" } }, merge]
      ] as const) {
        refused(yield* ask(method, `${configMaps}/a`, body, options), {
          code: 400,
          reason: "BadRequest",
          message: "the name of the object (b) does not match the name on the URL (a)"
        })
      }
    })
  },
  {
    title: "400: selectors that cannot be parsed or are not supported",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      for (const query of ["labelSelector=a%3D%3D%3Db", "labelSelector=a%20in%20b", "labelSelector=-a"]) {
        refused(yield* ask("GET", `${configMaps}?${query}`), {
          code: 400,
          reason: "BadRequest",
          message: /^unable to parse requirement: /
        })
      }
      for (const query of ["fieldSelector=data.x%3D1", "fieldSelector=nonsense"]) {
        refused(yield* ask("GET", `${configMaps}?${query}`), { code: 400, reason: "BadRequest" })
      }
    })
  },
  {
    title: "400: a limit that is not a number, and a malformed continue token",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      refused(yield* ask("GET", `${configMaps}?limit=x`), {
        code: 400,
        reason: "BadRequest",
        message: 'strconv.ParseInt: parsing "x": invalid syntax'
      })
      refused(yield* ask("GET", `${configMaps}?continue=abc`), {
        code: 400,
        reason: "BadRequest",
        message: /continue key is not valid/
      })
    })
  },
  {
    title: "422: resourceVersionMatch in invalid combinations",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const list = (query: string) => ask("GET", `${configMaps}?${query}`)
      const subject = 'ListOptions.meta.k8s.io ""'
      const field = "resourceVersionMatch"
      invalid(yield* list("resourceVersionMatch=Exact"), subject, [
        field,
        "FieldValueForbidden",
        "resourceVersionMatch is forbidden unless resourceVersion is provided"
      ])
      invalid(yield* list("resourceVersion=1&resourceVersionMatch=Bogus"), subject, [
        field,
        "FieldValueNotSupported",
        'Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""'
      ])
      invalid(yield* list("resourceVersion=0&resourceVersionMatch=Exact"), subject, [
        field,
        "FieldValueForbidden",
        'is forbidden for resourceVersion "0"'
      ])
    })
  },
  {
    title: "422: write options that are unknown or exclude each other",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a")))
      invalid(yield* ask("POST", `${configMaps}?dryRun=Some`, configMap("b")), 'CreateOptions.meta.k8s.io ""', [
        "dryRun",
        "FieldValueNotSupported",
        'supported values: "All"'
      ])
      invalid(yield* ask("PATCH", `${configMaps}/a?force=true`, {}, merge), 'PatchOptions.meta.k8s.io ""', [
        "force",
        "FieldValueForbidden",
        "Forbidden: may not be specified for non-apply patch"
      ])
      invalid(yield* ask("PATCH", `${configMaps}/a`, {}, applyPatch), 'PatchOptions.meta.k8s.io ""', [
        "fieldManager",
        "FieldValueRequired",
        "Required value: is required for apply patch"
      ])
      const long = "x".repeat(129)
      invalid(
        yield* ask("PUT", `${configMaps}/a?fieldManager=${long}`, configMap("a")),
        'UpdateOptions.meta.k8s.io ""',
        ["fieldManager", "FieldValueTooLong", "Too long: "]
      )
      const both = { kind: "DeleteOptions", apiVersion: "v1", orphanDependents: true, propagationPolicy: "Orphan" }
      invalid(yield* ask("DELETE", `${configMaps}/a`, both), 'DeleteOptions.meta.k8s.io ""', [
        "propagationPolicy",
        "FieldValueInvalid",
        "orphanDependents and deletionPropagation cannot be both set"
      ])
      invalid(
        yield* ask("DELETE", `${configMaps}/a`, {
          kind: "DeleteOptions",
          apiVersion: "v1",
          propagationPolicy: "Bogus"
        }),
        'DeleteOptions.meta.k8s.io ""',
        ["propagationPolicy", "FieldValueNotSupported", 'supported values: "Foreground", "Background", "Orphan"']
      )
      assert.strictEqual((yield* ask("GET", `${configMaps}/a`)).status, 200)
    })
  },
  {
    title: "422: invalid metadata and data keys: names, labels, owners, finalizers",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const post = (metadata: object, rest: object = {}) =>
        ask("POST", configMaps, { metadata: { name: "a", ...metadata }, ...rest })
      const subject = 'ConfigMap "a"'
      invalid(yield* post({ labels: { k: "b c" } }), subject, [
        "metadata.labels",
        "FieldValueInvalid",
        'Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters'
      ])
      invalid(yield* post({ labels: { "bad key!": "x" } }), subject, [
        "metadata.labels",
        "FieldValueInvalid",
        'Invalid value: "bad key!": name part must consist of alphanumeric characters'
      ])
      invalid(yield* post({ finalizers: ["nodomain"] }), subject, [
        "metadata.finalizers[0]",
        "FieldValueInvalid",
        "name is neither a standard finalizer name nor is it fully qualified"
      ])
      invalid(yield* post({ ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] }), subject, [
        "metadata.ownerReferences.uid",
        "FieldValueInvalid",
        "must not be empty"
      ])
      invalid(yield* post({}, { data: { "bad key": "1" } }), subject, [
        "data[bad key]",
        "FieldValueInvalid",
        "a valid config key must consist of alphanumeric characters"
      ])
    })
  },
  {
    title: "422: annotations above 256 KiB, and a ConfigMap above 1 MiB",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const noted = { metadata: { name: "a", annotations: { a: "x".repeat(262_144) } } }
      invalid(yield* ask("POST", configMaps, noted), 'ConfigMap "a"', [
        "metadata.annotations",
        "FieldValueTooLong",
        "Too long: "
      ])
      const big = yield* ask("POST", configMaps, configMap("a", { k: "x".repeat(1024 * 1024 + 1) }))
      refused(big, { code: 422, reason: "Invalid", message: /Too long: / })
    })
  },
  {
    title: "sendInitialEvents requires resourceVersionMatch, and is allowed on a watch only",
    since: 32,
    rule: "KEP-3157: ValidateListOptions of sendInitialEvents",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      invalid(yield* ask("GET", `${configMaps}?watch=true&sendInitialEvents=true`), 'ListOptions.meta.k8s.io ""', [
        "resourceVersionMatch",
        "FieldValueForbidden",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
      ])
    })
  }
]

/** Lists: selectors, pages, versions, projections, collections, and errors. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import { done, refused } from "../assertions.ts"
import { type Case, configMap, pod } from "../Case.ts"
import { at, createLetters, hasLetter, namesOf } from "../objects.ts"

export const lists: ReadonlyArray<Case> = [
  {
    title: "a list is sorted by name, has a resourceVersion, and its items have apiVersion and kind",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 3)
      const list = yield* client.list(ConfigMap, { namespace, labelSelector: hasLetter })
      assert.deepStrictEqual(namesOf(list), ["x-a", "x-b", "x-c"])
      assert.match(list.metadata.resourceVersion ?? "", /^\d+$/)
      for (const item of list.items) assert.deepStrictEqual([item.apiVersion, item.kind], ["v1", "ConfigMap"])
      const one = yield* client.get(ConfigMap, { namespace, name: "x-a" })
      assert.deepStrictEqual({ ...list.items[0] }, one)
    })
  },
  {
    title: "label selectors: equality, sets, existence",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 4)
      const select = (labelSelector: string) =>
        Effect.map(client.list(ConfigMap, { namespace, labelSelector }), namesOf)
      assert.deepStrictEqual(yield* select("letter=b"), ["x-b"])
      assert.deepStrictEqual(yield* select("letter,letter!=b"), ["x-a", "x-c", "x-d"])
      assert.deepStrictEqual(yield* select("letter in (a, d)"), ["x-a", "x-d"])
      assert.deepStrictEqual(yield* select("letter,letter notin (a,d)"), ["x-b", "x-c"])
      assert.deepStrictEqual(yield* select("even"), ["x-a", "x-c"])
      assert.deepStrictEqual(yield* select("letter,!even"), ["x-b", "x-d"])
      assert.deepStrictEqual(yield* select("even=,letter=c"), ["x-c"])
      const error = yield* Effect.flip(select("a in b"))
      assert.strictEqual(error.reason._tag, "BadRequest")
    })
  },
  {
    title: "field selectors: metadata.name everywhere, spec.nodeName and status.phase on pods, others are errors",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 2)
      assert.deepStrictEqual(
        namesOf(yield* client.list(ConfigMap, { namespace, fieldSelector: "metadata.name=x-b" })),
        ["x-b"]
      )
      yield* client.create(Pod, pod("unbound"), { namespace })
      const bound = pod("bound")
      yield* client.create(Pod, { ...bound, spec: { ...bound.spec, nodeName: "node-1" } }, { namespace })
      const pods = (fieldSelector: string) => Effect.map(client.list(Pod, { namespace, fieldSelector }), namesOf)
      assert.deepStrictEqual(yield* pods("spec.nodeName=node-1"), ["bound"])
      assert.deepStrictEqual(yield* pods("spec.nodeName="), ["unbound"])
      assert.deepStrictEqual(yield* pods("spec.nodeName!=node-1,status.phase=Pending"), ["unbound"])
      const error = yield* Effect.flip(pods("spec.nonsense=1"))
      assert.strictEqual(error.reason._tag, "BadRequest")
    })
  },
  {
    title: "pages contain every object once, all at the resourceVersion of the first page",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 5)
      const page = (token?: string) =>
        client.listPage(ConfigMap, { namespace, labelSelector: hasLetter, limit: 2, ...(token && { continue: token }) })
      const first = yield* page()
      yield* client.delete(ConfigMap, { namespace, name: "x-d" })
      const second = yield* page(first.metadata.continue)
      const third = yield* page(second.metadata.continue)
      assert.deepStrictEqual(
        [namesOf(first), namesOf(second), namesOf(third)],
        [["x-a", "x-b"], ["x-c", "x-d"], ["x-e"]]
      )
      assert.strictEqual(second.metadata.resourceVersion, first.metadata.resourceVersion)
      assert.strictEqual(third.metadata.continue ?? "", "")
    })
  },
  {
    title: "remainingItemCount is set without a selector",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 5)
      const all = yield* client.list(ConfigMap, { namespace })
      const page = yield* client.listPage(ConfigMap, { namespace, limit: 2 })
      assert.strictEqual(page.metadata.remainingItemCount, all.items.length - 2)
    })
  },
  {
    title: "the client's list follows the pages",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 5)
      const list = yield* client.list(ConfigMap, { namespace, labelSelector: hasLetter, limit: 2 })
      assert.deepStrictEqual(namesOf(list), ["x-a", "x-b", "x-c", "x-d", "x-e"])
      assert.isUndefined(list.metadata.continue)
    })
  },
  {
    title: "an expired continue token is Gone, and a malformed one is a BadRequest",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      const { client, compact, namespace } = subject
      yield* createLetters(subject, 3)
      const options = { namespace, labelSelector: hasLetter, limit: 1 }
      const first = yield* client.listPage(ConfigMap, options)
      yield* client.create(ConfigMap, configMap("later"), { namespace })
      yield* compact
      const late = yield* Effect.flip(client.listPage(ConfigMap, { ...options, continue: first.metadata.continue }))
      assert.strictEqual(late.reason._tag, "Gone")
      const garbled = yield* Effect.flip(client.listPage(ConfigMap, { ...options, continue: "garbled" }))
      assert.strictEqual(garbled.reason._tag, "BadRequest")
    })
  },
  {
    title:
      "a list at an exact resourceVersion has the objects of that time; with 0 or NotOlderThan it may have newer ones",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 2)
      const options = { namespace, labelSelector: hasLetter }
      const before = yield* client.list(ConfigMap, options)
      yield* client.create(ConfigMap, configMap("x-z", {}, { letter: "z" }), { namespace })
      const { resourceVersion } = before.metadata
      const past = yield* client.listPage(ConfigMap, { ...options, resourceVersion, resourceVersionMatch: "Exact" })
      assert.deepStrictEqual(namesOf(past), ["x-a", "x-b"])
      const fresh = yield* client.listPage(ConfigMap, {
        ...options,
        resourceVersion,
        resourceVersionMatch: "NotOlderThan"
      })
      assert.includeMembers([...namesOf(fresh)], ["x-a", "x-b"])
      yield* client.listPage(ConfigMap, { ...options, resourceVersion: "0" })
    })
  },
  {
    title: "a resourceVersion in the future is a Timeout, which a client retries without a relist",
    since: 20,
    run: Effect.fnUntraced(function* ({ namespace, transport }) {
      const path = Resource.path(ConfigMap, { namespace })
      const query = { resourceVersion: "999999999", resourceVersionMatch: "NotOlderThan" }
      const error = yield* Effect.flip(transport.send({ method: "GET", path, query, context: { verb: "list", path } }))
      assert.isTrue(ApiError.isTooLargeResourceVersion(error))
    })
  },
  {
    title: "a list of all namespaces contains the objects of each namespace",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 1)
      const list = yield* client.list(ConfigMap, { labelSelector: "letter=a" })
      assert.include(
        list.items.map((item) => `${item.metadata.namespace}/${item.metadata.name}`),
        `${namespace}/x-a`
      )
    })
  },
  {
    title: "pages are of one snapshot while objects are written",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 6)
      const seen: Array<string> = []
      let token: string | undefined
      for (let page = 0; page < 3; page++) {
        const list: KubeList<KubeObject> = yield* client.listPage(ConfigMap, {
          namespace,
          labelSelector: hasLetter,
          limit: 2,
          ...(token && { continue: token })
        })
        seen.push(...namesOf(list))
        token = list.metadata.continue
        yield* client.create(ConfigMap, configMap(`x-b${page}`, {}, { letter: "new" }), { namespace })
        yield* client.delete(ConfigMap, { namespace, name: `x-${"efa"[page]}` })
        const later = `x-${"dcb"[page]}`
        yield* client.patch(
          ConfigMap,
          { namespace, name: later },
          Patch.merge({ metadata: { labels: { letter: null } } })
        )
      }
      assert.deepStrictEqual(seen, ["x-a", "x-b", "x-c", "x-d", "x-e", "x-f"])
    })
  },
  {
    title: "a list at the exact resourceVersion of each write has the state after that write",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const made = yield* client.create(ConfigMap, configMap("a", { k: "0" }, { letter: "a" }), { namespace })
      const versions = [made.metadata.resourceVersion ?? ""]
      for (const k of ["1", "2"]) {
        const next = yield* client.patch(ConfigMap, target, Patch.merge({ data: { k } }))
        versions.push(next.metadata.resourceVersion ?? "")
      }
      yield* client.delete(ConfigMap, target)
      for (const [index, resourceVersion] of versions.entries()) {
        const list = yield* client.listPage(ConfigMap, {
          namespace,
          labelSelector: hasLetter,
          resourceVersion,
          resourceVersionMatch: "Exact"
        })
        assert.deepStrictEqual(
          list.items.map(({ data, metadata }) => [metadata.resourceVersion, data]),
          [[resourceVersion, { k: String(index) }]]
        )
        assert.strictEqual(list.metadata.resourceVersion, resourceVersion)
      }
    })
  },
  {
    title: "a list at an exact resourceVersion with a limit has pages of that version",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 3)
      const { metadata } = yield* client.list(ConfigMap, { namespace })
      yield* client.delete(ConfigMap, { namespace, name: "x-c" })
      const options = { namespace, labelSelector: hasLetter, limit: 2 }
      const exact = { resourceVersion: metadata.resourceVersion, resourceVersionMatch: "Exact" } as const
      const first = yield* client.listPage(ConfigMap, { ...options, ...exact })
      const second = yield* client.listPage(ConfigMap, { ...options, continue: first.metadata.continue })
      assert.deepStrictEqual([...namesOf(first), ...namesOf(second)], ["x-a", "x-b", "x-c"])
    })
  },
  {
    title: "a compacted resourceVersion is Gone with Exact",
    since: 20,
    alone: true,
    run: Effect.fnUntraced(function* (subject) {
      const { client, compact, namespace } = subject
      const { metadata } = yield* client.create(ConfigMap, configMap("a"), { namespace })
      yield* createLetters(subject, 2)
      yield* compact
      const past = client.listPage(ConfigMap, {
        namespace,
        resourceVersion: metadata.resourceVersion,
        resourceVersionMatch: "Exact"
      })
      assert.strictEqual((yield* Effect.flip(past)).reason._tag, "Gone")
    })
  },
  {
    title: "a get at resourceVersion 0, or at a past one, returns the object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const { metadata } = done(yield* ask("POST", configMaps, configMap("a")))
      const get = (version: string) => ask("GET", `${configMaps}/a?resourceVersion=${version}`)
      assert.strictEqual(done(yield* get(metadata.resourceVersion)).metadata.uid, metadata.uid)
      assert.strictEqual(done(yield* get("0")).metadata.uid, metadata.uid)
    })
  },
  {
    title: "a future resourceVersion: message, cause and Retry-After",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const reply = yield* ask("GET", `${at(namespace).configMaps}?resourceVersion=999999999`)
      refused(reply, {
        code: 504,
        reason: "Timeout",
        message: /^Timeout: Too large resource version: 999999999, current: \d+$/
      })
      const { causes, retryAfterSeconds } = reply.body.details
      assert.deepStrictEqual(causes, [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }])
      assert.strictEqual(retryAfterSeconds, 1)
    })
  },
  {
    title: "an empty list has an empty array of items and a resourceVersion",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const list = done(yield* ask("GET", at(namespace).leases))
      assert.deepStrictEqual([list.kind, list.apiVersion, list.items], ["LeaseList", "coordination.k8s.io/v1", []])
      assert.match(list.metadata.resourceVersion, /^\d+$/)
    })
  },
  {
    title: "a limit above the number of objects gives no continue token; a limit of 0 is no limit",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      yield* createLetters(subject, 2)
      for (const limit of ["0", "2", "500"]) {
        const path = `${at(namespace).configMaps}?labelSelector=${hasLetter}&limit=${limit}`
        const { items, metadata } = done(yield* ask("GET", path))
        assert.deepStrictEqual(
          [items.length, metadata.continue, metadata.remainingItemCount],
          [2, undefined, undefined]
        )
      }
    })
  },
  {
    title: "a list matches label and field selectors together",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 3)
      const select = (fieldSelector: string) =>
        Effect.map(client.list(ConfigMap, { namespace, labelSelector: "even", fieldSelector }), namesOf)
      assert.deepStrictEqual(yield* select("metadata.name=x-a"), ["x-a"])
      assert.deepStrictEqual(yield* select("metadata.name=x-b"), [])
      assert.deepStrictEqual(yield* select(`metadata.name!=x-a,metadata.namespace=${namespace}`), ["x-c"])
    })
  }
]

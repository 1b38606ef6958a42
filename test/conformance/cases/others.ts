/** Events in both groups, discovery, health, and what carries no object. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Resource from "../../../src/kube/Resource.ts"
import { Event, EventsEvent, Lease, Pod } from "../../../src/kube/resources.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Transport } from "../../../src/layers/Transport.ts"
import { type Case, pod } from "../Case.ts"

const raw = (transport: Transport["Service"], path: string, accept?: string) =>
  transport.send({ method: "GET", path, accept, context: { verb: "raw", path } })

export const others: ReadonlyArray<Case> = [
  {
    title: "an event of the core group is found by what it is about, and seen in events.k8s.io",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const about = yield* client.create(Pod, pod("subject"), { namespace })
      const involvedObject = {
        apiVersion: "v1",
        kind: "Pod",
        namespace,
        name: "subject",
        uid: about.metadata.uid ?? ""
      }
      const made = yield* client.create(
        Event,
        {
          metadata: { name: "subject.1" },
          involvedObject,
          reason: "Counted",
          message: "pod count is 3",
          type: "Normal",
          source: { component: "tester" },
          firstTimestamp: "2026-01-02T03:04:05Z",
          lastTimestamp: "2026-01-02T03:04:05Z",
          count: 1
        },
        { namespace }
      )
      const select = (fieldSelector: string) =>
        Effect.map(client.list(Event, { namespace, fieldSelector }), (list) => list.items.map((e) => e.metadata.name))
      const describe = `involvedObject.name=subject,involvedObject.namespace=${namespace},involvedObject.kind=Pod`
      assert.deepStrictEqual(yield* select(`${describe},involvedObject.uid=${about.metadata.uid}`), ["subject.1"])
      assert.deepStrictEqual(yield* select("reason=Counted,type=Normal"), ["subject.1"])
      assert.deepStrictEqual(yield* select("involvedObject.name=other"), [])
      const other = yield* client.get(EventsEvent, { namespace, name: "subject.1" })
      assert.deepStrictEqual(
        [other.apiVersion, other.note, other.regarding?.name, other.deprecatedCount, other.metadata.uid],
        ["events.k8s.io/v1", "pod count is 3", "subject", 1, made.metadata.uid]
      )
      const again = yield* client.patch(
        Event,
        { namespace, name: "subject.1" },
        { type: "strategic", body: { count: 2, lastTimestamp: "2026-01-02T03:05:05Z" } }
      )
      assert.deepStrictEqual([again.count, again.lastTimestamp], [2, "2026-01-02T03:05:05Z"])
    })
  },
  {
    title: "an event of events.k8s.io with a series is seen in the core group",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      yield* client.create(
        EventsEvent,
        {
          metadata: { name: "e" },
          eventTime: "2026-01-02T03:04:05.000000Z",
          reportingController: "test.example/controller",
          reportingInstance: "controller-0",
          action: "Counting",
          reason: "Counted",
          type: "Normal",
          note: "pod count is 3",
          regarding: { kind: "Pod", apiVersion: "v1", namespace, name: "subject" },
          series: { count: 2, lastObservedTime: "2026-01-02T03:05:05.000000Z" }
        },
        { namespace }
      )
      const core = yield* client.get(Event, { namespace, name: "e" })
      assert.deepStrictEqual(
        [core.message, core.involvedObject.name, core.series?.count, core.reportingComponent],
        ["pod count is 3", "subject", 2, "test.example/controller"]
      )
    })
  },
  {
    title: "discovery names groups, versions and resources",
    run: Effect.fnUntraced(function* ({ transport }) {
      const api = (yield* raw(transport, "/api")).body as { kind: string; versions: Array<string> }
      assert.deepStrictEqual([api.kind, api.versions], ["APIVersions", ["v1"]])
      const apis = (yield* raw(transport, "/apis")).body as { kind: string; groups: Array<{ name: string }> }
      assert.strictEqual(apis.kind, "APIGroupList")
      assert.includeMembers(
        apis.groups.map((group) => group.name),
        ["coordination.k8s.io", "events.k8s.io"]
      )
      interface Resources {
        readonly resources: ReadonlyArray<{ name: string; kind: string; namespaced: boolean; verbs: Array<string> }>
      }
      const { resources } = (yield* raw(transport, "/api/v1")).body as Resources
      const pods = resources.find((one) => one.name === "pods")
      assert.deepStrictEqual([pods?.kind, pods?.namespaced], ["Pod", true])
      assert.includeMembers(pods?.verbs ?? [], ["create", "delete", "get", "list", "patch", "update", "watch"])
      assert.isDefined(resources.find((one) => one.name === "pods/status"))
      assert.isFalse(resources.find((one) => one.name === "nodes")?.namespaced)
      const group = (yield* raw(transport, "/apis/coordination.k8s.io")).body as {
        preferredVersion: { version: string }
      }
      assert.strictEqual(group.preferredVersion.version, "v1")
    })
  },
  {
    title: "the discovery service finds kinds, their scope and their subresources, and says what is not served",
    run: Effect.fnUntraced(function* ({ client }) {
      const layer = Discovery.layer.pipe(Layer.provide(Layer.succeed(KubeClient, client)))
      const { resourceFor, serves } = Context.get(yield* Layer.build(layer), Discovery)
      const found = yield* resourceFor({ group: "", kind: "Pod" })
      assert.deepStrictEqual([found.id, found.scope], ["v1/pods", "Namespaced"])
      assert.include(found.subresources, "status")
      assert.strictEqual((yield* resourceFor({ group: "", kind: "Node" })).scope, "Cluster")
      assert.strictEqual((yield* resourceFor({ group: "coordination.k8s.io", kind: "Lease" })).id, Lease.id)
      assert.isTrue(yield* serves(EventsEvent))
      const missing = yield* Effect.flip(resourceFor({ group: "none.example", kind: "Widget" }))
      assert.strictEqual(missing._tag, "NotServed")
    })
  },
  {
    title: "aggregated discovery answers for all groups at once",
    since: 30,
    run: Effect.fnUntraced(function* ({ transport }) {
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
      const body = (yield* raw(transport, "/apis", accept)).body as { kind: string; items: ReadonlyArray<unknown> }
      assert.strictEqual(body.kind, "APIGroupDiscoveryList")
    })
  },
  {
    title: "version is JSON, readyz and healthz are text",
    run: Effect.fnUntraced(function* ({ transport }) {
      const version = (yield* raw(transport, "/version")).body as { major: string; gitVersion: string }
      assert.strictEqual(version.major, "1")
      assert.match(version.gitVersion, /^v1\.\d+\.\d+/)
      assert.strictEqual((yield* raw(transport, "/readyz")).body, "ok")
      assert.strictEqual((yield* raw(transport, "/healthz")).body, "ok")
    })
  },
  {
    title: "a wrong token is Unauthorized; no token is no administrator",
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
      if (anonymous.reason._tag === "Forbidden")
        assert.include(anonymous.message, `list pods in namespace "${namespace}"`)
      const watch = Stream.runDrain(
        (yield* as("wrong")).watch({ method: "GET", path, query: { watch: true }, context: { verb: "watch", path } })
      )
      assert.strictEqual((yield* Effect.flip(watch)).reason._tag, "Unauthorized")
    })
  },
  {
    title: "a path that leads nowhere is NotFound",
    run: Effect.fnUntraced(function* ({ transport }) {
      for (const path of ["/nowhere", "/apis/none.example", "/api/v1/nonsense", "/api/v2/pods"]) {
        assert.strictEqual((yield* Effect.flip(raw(transport, path))).reason._tag, "NotFound", path)
      }
    })
  },
  {
    title: "an escaped name is one name, not a path",
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const error = yield* Effect.flip(client.get(Pod, { namespace, name: "../nodes" }))
      assert.include(["NotFound", "BadRequest"], error.reason._tag)
      assert.include(Resource.path(Pod, { namespace, name: "../nodes" }), "..%2Fnodes")
    })
  }
]

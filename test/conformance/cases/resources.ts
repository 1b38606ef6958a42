/** Resources: what is served, and what each kind keeps. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import { Event, EventsEvent, Lease, Namespace, Node, Pod } from "../../../src/kube/resources.ts"
import { type Case, pod } from "../Case.ts"

/** Config maps `a`, `b`, … labelled with their letter, and even ones with `even`. */
/** A real server puts objects of its own (a root CA) into namespaces. */
const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const resources: ReadonlyArray<Case> = [
  {
    title: "timestamps, quantities and every field come back as they were written, from get, list and update",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const draft = {
        metadata: { name: "full", annotations: { "a.example/time": "2026-01-02T03:04:05.000+01:00", empty: "" } },
        spec: {
          containers: [
            {
              name: "main",
              image: "registry.example/app:1",
              resources: { requests: { cpu: "1500m", memory: "1Gi" }, limits: { cpu: "2" } },
              env: [
                { name: "PLAIN", value: "x" },
                { name: "FROM", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }
              ],
              readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 3 },
              ports: [{ name: "http", containerPort: 8080 }]
            }
          ],
          tolerations: [{ key: "k", operator: "Exists" as const, tolerationSeconds: 5, effect: "NoExecute" as const }]
        }
      }
      const made = yield* client.create(Pod, draft, { namespace })
      const container = made.spec?.containers[0]
      const { env, ports, resources } = draft.spec.containers[0] ?? {}
      assert.deepStrictEqual(
        {
          env: container?.env,
          requests: container?.resources?.requests,
          limits: container?.resources?.limits?.["cpu"]
        },
        { env, requests: resources?.requests, limits: resources?.limits.cpu }
      )
      assert.strictEqual(container?.ports?.[0]?.containerPort, ports?.[0]?.containerPort)
      assert.deepStrictEqual(made.metadata.annotations, draft.metadata.annotations)
      const listed = (yield* client.list(Pod, { namespace })).items.find(({ metadata }) => metadata.name === "full")
      assert.deepStrictEqual(listed, made)
      const updated = yield* client.update(Pod, made)
      assert.deepStrictEqual(updated, made)
    })
  },
  {
    title: "cluster-scoped objects have no namespace, and their status is a subresource",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const name = `node-${namespace}`
      const made = yield* client.create(Node, { metadata: { name, labels: { zone: "a" } } })
      assert.isUndefined(made.metadata.namespace)
      const conditions = [{ type: "Ready", status: "True" }]
      const patched = yield* client.patch(
        Node,
        { name, subresource: "status" },
        { type: "merge", body: { status: { conditions } } }
      )
      assert.strictEqual(patched.status?.conditions?.[0]?.status, "True")
      yield* client.delete(Node, { name })
    })
  },
  {
    title: "a lease keeps its microseconds and refuses a stale holder",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const spec = {
        holderIdentity: "one",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.123456Z",
        renewTime: "2026-01-02T03:04:05.100000Z"
      }
      const made = yield* client.create(Lease, { metadata: { name: "l" }, spec }, { namespace })
      assert.deepStrictEqual(made.spec, spec)
      yield* client.update(Lease, { ...made, spec: { ...spec, holderIdentity: "two" } })
      const late = client.update(Lease, { ...made, spec: { ...spec, holderIdentity: "three" } })
      assert.strictEqual(yield* reason(late), "Conflict")
      assert.strictEqual((yield* client.get(Lease, { namespace, name: "l" })).spec?.holderIdentity, "two")
    })
  },
  {
    title: "a namespace starts out active",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      assert.strictEqual((yield* client.get(Namespace, { name: namespace })).status?.phase, "Active")
    })
  },
  {
    title: "an event of the core group is found by what it is about, and seen in events.k8s.io",
    since: 20,
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
    since: 20,
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
  }
]

/** Resources: which are served, and the fields that each kind stores. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import { Event, EventsEvent, Lease, Namespace, Node, Pod } from "../../../src/kube/resources.ts"
import { done, invalid, merge, refused } from "../assertions.ts"
import { type Case, pod } from "../Case.ts"
import { at, deployment, podOf } from "../objects.ts"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const resources: ReadonlyArray<Case> = [
  {
    title: "get, list and update return timestamps, quantities and all other fields as they were written",
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
    title: "a Lease keeps microseconds, and rejects a stale resourceVersion",
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
    title: "a new namespace is Active",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      assert.strictEqual((yield* client.get(Namespace, { name: namespace })).status?.phase, "Active")
    })
  },
  {
    title: "an event of the core group is selected by its involved object, and served in events.k8s.io",
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
    title: "an event of events.k8s.io with a series is served in the core group",
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
  },
  {
    title: "scale has replicas and selector, changes only replicas, and is validated as the object is",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments, replicaSets } = at(namespace)
      const path = `${deployments}/a/scale`
      const made = done(yield* ask("POST", deployments, deployment("a")))
      const { metadata, ...rest } = done(yield* ask("GET", path))
      assert.deepStrictEqual(rest, {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        spec: { replicas: 1 },
        status: { replicas: 0, selector: "app=a" }
      })
      assert.deepStrictEqual([metadata.name, metadata.namespace, metadata.uid], ["a", namespace, made.metadata.uid])
      const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a", namespace } }
      assert.strictEqual(done(yield* ask("PUT", path, { ...scale, spec: { replicas: 4 } })).spec.replicas, 4)
      assert.strictEqual(done(yield* ask("PATCH", path, { spec: { replicas: 5 } }, merge)).spec.replicas, 5)
      const scaled = done(yield* ask("GET", `${deployments}/a`))
      assert.deepStrictEqual([scaled.spec.replicas, scaled.metadata.generation], [5, 3])
      assert.deepStrictEqual(scaled.spec.template, made.spec.template)
      invalid(yield* ask("PATCH", path, { spec: { replicas: -5 } }, merge), 'Scale.autoscaling "a"', [
        "spec.replicas",
        "FieldValueInvalid",
        "Invalid value: -5: must be greater than or equal to 0"
      ])
      const stale = { ...scale, metadata: { ...scale.metadata, resourceVersion: "1" }, spec: { replicas: 9 } }
      refused(yield* ask("PUT", path, stale), { code: 409, reason: "Conflict" })
      refused(yield* ask("GET", `${replicaSets}/none/scale`), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "a Binding that names another pod, or no node, fails and binds nothing",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a")))
      const target = { kind: "Node", name: "n1" }
      const mismatch = { code: 400, reason: "BadRequest", message: "name in URL does not match name in Binding object" }
      for (const metadata of [undefined, {}, { name: "b" }, { generateName: "a" }]) {
        refused(yield* ask("POST", `${pods}/a/binding`, { metadata, target }), mismatch)
      }
      for (const [wrong, message] of [
        [undefined, "target.name: Required value"],
        [{ kind: "Rack", name: "n1" }, 'target.kind: Unsupported value: "Rack": supported values: "Node", "<empty>"']
      ] as const) {
        const { body } = yield* ask("POST", `${pods}/a/binding`, { metadata: { name: "a" }, target: wrong })
        assert.deepStrictEqual(
          [body.status, body.code, body.reason, body.message],
          ["Failure", 500, undefined, message]
        )
      }
      assert.strictEqual(done(yield* ask("GET", `${pods}/a`)).spec.nodeName, undefined)
    })
  },
  {
    title: "binding sets nodeName and the condition PodScheduled, and works once",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      const binding = (name: string, node: string) => ({
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name },
        target: { kind: "Node", name: node }
      })
      done(yield* ask("POST", pods, podOf("a")))
      const answer = done(yield* ask("POST", `${pods}/a/binding`, binding("a", "n1")), 201)
      assert.deepStrictEqual([answer.kind, answer.status], ["Status", "Success"])
      const bound = done(yield* ask("GET", `${pods}/a`))
      assert.strictEqual(bound.spec.nodeName, "n1")
      const scheduled = bound.status.conditions.find((one: any) => one.type === "PodScheduled")
      assert.strictEqual(scheduled.status, "True")
      refused(yield* ask("POST", `${pods}/a/binding`, binding("a", "n2")), {
        code: 409,
        reason: "Conflict",
        message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
      })
      refused(yield* ask("POST", `${pods}/none/binding`, binding("none", "n1")), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "stringData of a Secret is written to data and never returned",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { secrets } = at(namespace)
      const body = { metadata: { name: "a" }, data: { k: "AAAA", l: "BBBB" }, stringData: { k: "text" } }
      const made = done(yield* ask("POST", secrets, body))
      assert.deepStrictEqual(
        [made.data, made.type, made.stringData],
        [{ k: "dGV4dA==", l: "BBBB" }, "Opaque", undefined]
      )
    })
  },
  {
    title: "a TokenRequest returns a token with an audience and an expiration",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
      done(yield* ask("POST", accounts, { metadata: { name: "a" } }))
      const spec = { audiences: ["test.example"], expirationSeconds: 3600 }
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec }
      const { kind, spec: asked, status } = done(yield* ask("POST", `${accounts}/a/token`, body), 201)
      assert.strictEqual(kind, "TokenRequest")
      assert.deepStrictEqual(asked.audiences, ["test.example"])
      assert.isString(status.token)
      assert.match(status.expirationTimestamp, /^\d{4}-\d\d-\d\dT/)
      refused(yield* ask("POST", `${accounts}/none/token`, body), { code: 404, reason: "NotFound" })
    })
  },
  {
    title: "a SelfSubjectAccessReview returns a status and is not stored",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "list", resource: "pods" } }
      }
      const review = done(yield* ask("POST", path, body), 201)
      assert.deepStrictEqual([review.kind, review.status.allowed], ["SelfSubjectAccessReview", true])
      assert.strictEqual((yield* ask("GET", path)).status, 405)
    })
  },
  {
    title: "an event must be in the namespace of its involved object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = at(namespace).events
      const event = (involvedObject: object) => ({ metadata: { name: "e" }, involvedObject })
      for (const involvedObject of [{}, { namespace: "other" }]) {
        invalid(yield* ask("POST", path, event(involvedObject)), 'Event "e"', [
          "involvedObject.namespace",
          "FieldValueInvalid",
          "does not match event.namespace"
        ])
      }
      done(yield* ask("POST", path, event({ namespace })))
    })
  },
  {
    title: "leaseDurationSeconds of a Lease must be at least 1",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const body = { metadata: { name: "l" }, spec: { leaseDurationSeconds: 0 } }
      invalid(yield* ask("POST", at(namespace).leases, body), 'Lease.coordination.k8s.io "l"', [
        "spec.leaseDurationSeconds",
        "FieldValueInvalid",
        "Invalid value: 0: must be greater than 0"
      ])
    })
  }
]

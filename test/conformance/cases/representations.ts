/** Representations: PartialObjectMetadata and Table, on get, list and watch. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { done, events, merge, partial, partialList, refused, table } from "../assertions.ts"
import { type Case, configMap, type Subject } from "../Case.ts"
import { at, createLetters, deployment, hasLetter, matching, namesOf, podOf, service } from "../objects.ts"

/** The path of a watch of the ConfigMap `a` that starts now and lasts a second, and that of the collection. */
const watchOfA = Effect.fnUntraced(function* ({ ask, namespace }: Subject) {
  const { configMaps } = at(namespace)
  const { resourceVersion } = done(yield* ask("GET", configMaps)).metadata
  const query = `watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3Da`
  return { configMaps, path: `${configMaps}?${query}` }
})

interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
}

/** The names of the columns; those with a priority above 0, which kubectl shows with `-o wide`, have a star. */
const columns = (body: any): string =>
  body.columnDefinitions.map(({ name, priority }: Column) => (priority === 0 ? name : `${name}*`)).join(" ")

/** The columns of 1.20; later versions append columns, and have more kinds. */
const shown: Readonly<Record<string, string>> = {
  "/api/v1/pods": "Name Ready Status Restarts Age IP* Node* Nominated Node* Readiness Gates*",
  "/api/v1/nodes":
    "Name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*",
  "/api/v1/namespaces": "Name Status Age",
  "/api/v1/services": "Name Type Cluster-IP External-IP Port(s) Age Selector*",
  "/api/v1/configmaps": "Name Data Age",
  "/api/v1/secrets": "Name Type Data Age",
  "/api/v1/endpoints": "Name Endpoints Age",
  "/api/v1/events": "Last Seen Type Reason Object Subobject* Source* Message First Seen* Count* Name*",
  "/apis/coordination.k8s.io/v1/leases": "Name Holder Age",
  "/apis/apps/v1/deployments": "Name Ready Up-to-date Available Age Containers* Images* Selector*",
  "/apis/apps/v1/replicasets": "Name Desired Current Ready Age Containers* Images* Selector*",
  "/apis/apps/v1/statefulsets": "Name Ready Age Containers* Images*",
  "/apis/apps/v1/daemonsets":
    "Name Desired Current Ready Up-to-date Available Node Selector Age Containers* Images* Selector*"
}

export const views: ReadonlyArray<Case> = [
  {
    title: "a client's get and list of metadata return only metadata, with the real kind",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* createLetters(subject, 2)
      const Partial = Resource.metadataOnly(ConfigMap)
      const one = yield* client.get(Partial, { namespace, name: "x-a" })
      assert.deepStrictEqual(Object.keys(one).sort(), ["apiVersion", "kind", "metadata"])
      assert.deepStrictEqual([one.apiVersion, one.kind], ["v1", "ConfigMap"])
      const full = yield* client.get(ConfigMap, { namespace, name: "x-a" })
      assert.deepStrictEqual(one.metadata, full.metadata)
      const list = yield* client.list(Partial, { namespace, labelSelector: hasLetter, limit: 1 })
      assert.deepStrictEqual(namesOf(list), ["x-a", "x-b"])
      for (const item of list.items)
        assert.deepStrictEqual(Object.keys(item).sort(), ["apiVersion", "kind", "metadata"])
    })
  },
  {
    title: "writes that need only metadata return only metadata, with the real kind, and write the whole object",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const returns = { returns: "metadata" } as const
      const target = { namespace, name: "part" }
      const created = yield* client.create(ConfigMap, { metadata: target, data: { a: "1" } }, returns)
      const whole = yield* client.get(ConfigMap, target)
      const updated = yield* client.update(ConfigMap, { ...whole, data: { a: "2" } }, returns)
      const patched = yield* client.patch(ConfigMap, target, Patch.merge({ data: { b: "3" } }), returns)
      const now = yield* client.get(ConfigMap, target)
      assert.deepStrictEqual(now.data, { a: "2", b: "3" })
      assert.deepStrictEqual(patched.metadata, now.metadata)
      for (const one of [created, updated, patched]) {
        assert.deepStrictEqual(Object.keys(one).sort(), ["apiVersion", "kind", "metadata"])
        assert.deepStrictEqual([one.apiVersion, one.kind, one.metadata.uid], ["v1", "ConfigMap", whole.metadata.uid])
      }
    })
  },
  {
    title: "a deletion that needs no result deletes the object, and fails for one in another state",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "unread" }
      const { metadata } = yield* client.create(ConfigMap, { metadata: target })
      const remove = (resourceVersion: string | undefined) =>
        client.delete(ConfigMap, target, { returns: "nothing", preconditions: { uid: metadata.uid, resourceVersion } })
      assert.strictEqual((yield* Effect.flip(remove("1"))).reason._tag, "Conflict")
      assert.isUndefined(yield* remove(metadata.resourceVersion))
      assert.strictEqual((yield* Effect.flip(client.get(ConfigMap, target))).reason._tag, "NotFound")
    })
  },
  {
    title: "a table of pods: columns, cells, and the metadata of each row",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a")))
      const body = done(yield* ask("GET", pods, undefined, table))
      assert.deepStrictEqual([body.kind, body.apiVersion], ["Table", "meta.k8s.io/v1"])
      assert.match(body.metadata.resourceVersion, /^\d+$/)
      assert.strictEqual(columns(body), shown["/api/v1/pods"])
      assert.deepStrictEqual(body.rows.length, 1)
      const [{ cells, object }] = body.rows
      assert.deepStrictEqual(cells.slice(0, 3), ["a", "0/1", "Pending"])
      assert.match(cells[4], /^\d+s$/)
      assert.deepStrictEqual(cells.slice(5), ["<none>", "<none>", "<none>", "<none>"])
      assert.deepStrictEqual([object.kind, object.apiVersion], ["PartialObjectMetadata", "meta.k8s.io/v1"])
      assert.strictEqual(object.metadata.name, "a")
      assert.isUndefined(object.spec)
    })
  },
  {
    title: "a table of one object",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const made = done(yield* ask("POST", configMaps, configMap("a", { k: "1", l: "2" })))
      const body = done(yield* ask("GET", `${configMaps}/a`, undefined, table))
      assert.deepStrictEqual(body.rows[0].cells.slice(0, 2), ["a", 2])
      assert.strictEqual(body.metadata.resourceVersion, made.metadata.resourceVersion)
    })
  },
  {
    title: "includeObject sets the object of a row: None, Metadata or Object; other values are errors",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      const row = (include: string) =>
        Effect.map(ask("GET", `${configMaps}/a?includeObject=${include}`, undefined, table), (r) => done(r).rows[0])
      assert.isNull((yield* row("None")).object)
      assert.strictEqual((yield* row("Metadata")).object.kind, "PartialObjectMetadata")
      const { object } = yield* row("Object")
      assert.deepStrictEqual([object.kind, object.data], ["ConfigMap", { k: "1" }])
      refused(yield* ask("GET", `${configMaps}/a?includeObject=Bogus`, undefined, table), {
        code: 400,
        reason: "BadRequest"
      })
    })
  },
  {
    title: "a watch of tables has the columns in the first event, and one row in each event",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { configMaps, path } = yield* watchOfA(subject)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      done(yield* ask("DELETE", `${configMaps}/a`))
      const all = events(yield* ask("GET", path, undefined, table))
      assert.deepStrictEqual(
        all.map(({ object, type }) => [type, object.kind, object.rows.length, object.rows[0].cells[0]]),
        [
          ["ADDED", "Table", 1, "a"],
          ["DELETED", "Table", 1, "a"]
        ]
      )
      assert.strictEqual(columns(all[0]?.object), "Name Data Age")
      assert.isEmpty(all[1]?.object.columnDefinitions ?? [])
    })
  },
  {
    title: "tables have pages as lists do",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      for (const name of ["x-a", "x-b"]) done(yield* ask("POST", configMaps, configMap(name, {}, { mine: "yes" })))
      const first = done(yield* ask("GET", `${configMaps}?labelSelector=mine&limit=1`, undefined, table))
      const token = encodeURIComponent(first.metadata.continue)
      const rest = `${configMaps}?labelSelector=mine&limit=1&continue=${token}`
      const second = done(yield* ask("GET", rest, undefined, table))
      assert.deepStrictEqual([first.rows[0].cells[0], second.rows[0].cells[0]], ["x-a", "x-b"])
    })
  },
  ...Object.entries(shown).map(([path, expected]): Case => ({
    title: `the usual columns of ${path.split("/").at(-1)}`,
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const found = columns(done(yield* ask("GET", `${path}?limit=1`, undefined, table)))
      assert.strictEqual(found.slice(0, expected.length), expected)
    })
  })),
  {
    title: "rows of workloads have the cells that kubectl prints",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments, services } = at(namespace)
      done(yield* ask("POST", deployments, deployment("a", { ...matching, replicas: 3 })))
      const status = { replicas: 3, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 2 }
      done(yield* ask("PATCH", `${deployments}/a/status`, { status }, merge))
      const row = (path: string) => Effect.map(ask("GET", path, undefined, table), (r) => done(r).rows[0].cells)
      const cells = yield* row(`${deployments}/a`)
      assert.deepStrictEqual(cells.slice(0, 4), ["a", "1/3", 2, 1])
      assert.deepStrictEqual(cells.slice(5), ["main", "registry.example/app:1", "app=a"])
      done(
        yield* ask("POST", services, service("s", { clusterIP: "None", selector: { app: "a" }, ports: [{ port: 80 }] }))
      )
      const [name, type, ip, external, ports] = yield* row(`${services}/s`)
      assert.deepStrictEqual([name, type, ip, external, ports], ["s", "ClusterIP", "None", "<none>", "80/TCP"])
    })
  },
  {
    title: "PartialObjectMetadataList has its own kind, and items with metadata only",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      const list = done(yield* ask("GET", `${configMaps}?fieldSelector=metadata.name%3Da`, undefined, partialList))
      assert.deepStrictEqual([list.kind, list.apiVersion], ["PartialObjectMetadataList", "meta.k8s.io/v1"])
      assert.deepStrictEqual([list.items[0].metadata.name, list.items[0].data], ["a", undefined])
      const one = done(yield* ask("GET", `${configMaps}/a`, undefined, partial))
      assert.deepStrictEqual([one.kind, one.apiVersion], ["PartialObjectMetadata", "meta.k8s.io/v1"])
      assert.isUndefined(one.data)
    })
  },
  {
    title: "writes return PartialObjectMetadata and Table too",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const made = done(yield* ask("POST", configMaps, configMap("a", { k: "1" }), partial), 201)
      assert.deepStrictEqual([made.kind, made.data], ["PartialObjectMetadata", undefined])
      const patched = done(yield* ask("PATCH", `${configMaps}/a`, { data: { l: "2" } }, { ...merge, ...table }))
      assert.deepStrictEqual([patched.kind, patched.rows[0].cells[1]], ["Table", 2])
    })
  },
  {
    title: "a watch of PartialObjectMetadata delivers only metadata",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { configMaps, path } = yield* watchOfA(subject)
      done(yield* ask("POST", configMaps, configMap("a", { k: "1" })))
      const all = events(yield* ask("GET", path, undefined, partial))
      assert.deepStrictEqual(
        all.map(({ object, type }) => [type, object.kind, object.apiVersion, object.data]),
        [["ADDED", "PartialObjectMetadata", "meta.k8s.io/v1", undefined]]
      )
    })
  },
  {
    title: "the first known media type of Accept is used",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const kubectl =
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
      assert.strictEqual(done(yield* ask("GET", configMaps, undefined, { accept: kubectl })).kind, "Table")
      const unknown = "application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json"
      assert.strictEqual(done(yield* ask("GET", configMaps, undefined, { accept: unknown })).kind, "ConfigMapList")
      assert.strictEqual(done(yield* ask("GET", configMaps, undefined, { accept: "*/*" })).kind, "ConfigMapList")
    })
  }
]

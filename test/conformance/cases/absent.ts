/** Writes: empty and absent values, which kube-apiserver decodes into Go structs and encodes again. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, jsonPatch, merge, strategic } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, containers, deployment, matching, podOf, service } from "../objects.ts"

const rbac = (namespace: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`

/** The object without the fields that each server sets differently. */
const content = ({ apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest }: any): object => rest

const written: ReadonlyArray<Case> = [
  {
    title: "empty maps, lists and strings are not stored; false in an optional field is stored",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [], generateName: "" }
      const body = { metadata: { name: "a", ...empty }, data: {}, binaryData: { x: "" }, immutable: false }
      const made = done(yield* ask("POST", configMaps, body))
      assert.deepStrictEqual(content(made), { binaryData: { x: "" }, immutable: false })
      for (const key of Object.keys(empty)) assert.notProperty(made.metadata, key)
      const { items } = done(yield* ask("GET", `${configMaps}?fieldSelector=metadata.name=a`))
      assert.deepStrictEqual(content(items[0]), { binaryData: { x: "" }, immutable: false })
    })
  },
  {
    title: "a null is dropped in a struct, a zero value in a map, and kept in a raw value",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps, pods } = at(namespace)
      const body = { metadata: { name: "a", labels: { k: null } }, data: { x: null, y: "1" }, immutable: null }
      const made = done(yield* ask("POST", configMaps, body))
      assert.deepStrictEqual([made.metadata.labels, content(made)], [{ k: "" }, { data: { x: "", y: "1" } }])
      const operation = { op: "add", path: "/data/y", value: null }
      const after = done(yield* ask("PATCH", `${configMaps}/a`, [operation], jsonPatch))
      assert.deepStrictEqual(content(after), { data: { x: "", y: "" } })
      const container = { ...containers[0], args: null, resources: { limits: { "example.com/thing": null } } }
      const pod = done(yield* ask("POST", pods, podOf("a", { containers: [container] })))
      assert.deepStrictEqual(pod.spec.containers[0].resources.limits, { "example.com/thing": "0" })
      const revisions = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`
      const data = { a: null, b: { c: null }, d: [] }
      const revision = done(yield* ask("POST", revisions, { metadata: { name: "a" }, revision: 1, data }))
      assert.deepStrictEqual(revision.data, data)
    })
  },
  {
    title: "a container stores empty structs and zeros of pointer fields",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const sent = {
        name: "main",
        image: "registry.example/app:1",
        args: [],
        command: [""],
        env: [{ name: "A", value: "" }],
        lifecycle: {},
        ports: [{ containerPort: 80, hostPort: 0, name: "" }],
        resources: { limits: {}, requests: {} },
        securityContext: { privileged: false, runAsUser: 0 },
        stdin: false,
        tty: false,
        volumeMounts: [],
        workingDir: ""
      }
      const made = done(yield* ask("POST", at(namespace).pods, podOf("a", { containers: [sent], securityContext: {} })))
      assert.deepStrictEqual(made.spec.containers[0], {
        name: "main",
        image: "registry.example/app:1",
        command: [""],
        env: [{ name: "A" }],
        imagePullPolicy: "IfNotPresent",
        lifecycle: {},
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: {},
        securityContext: { privileged: false, runAsUser: 0 },
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File"
      })
      assert.deepStrictEqual(made.spec.securityContext, {})
    })
  },
  {
    title: "a Deployment stores replicas 0 and enableServiceLinks false, and not paused false",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const template = {
        ...matching.template,
        spec: { containers, affinity: {}, enableServiceLinks: false, hostNetwork: false, nodeSelector: {}, volumes: [] }
      }
      const spec = { ...matching, minReadySeconds: 0, paused: false, replicas: 0, strategy: {}, template }
      const made = done(yield* ask("POST", at(namespace).deployments, deployment("a", spec)))
      assert.sameMembers(Object.keys(made.spec), [
        "progressDeadlineSeconds",
        "replicas",
        "revisionHistoryLimit",
        "selector",
        "strategy",
        "template"
      ])
      const { affinity, enableServiceLinks } = made.spec.template.spec
      assert.deepStrictEqual([made.spec.replicas, affinity, enableServiceLinks], [0, {}, false])
      for (const key of ["hostNetwork", "nodeSelector", "volumes"]) assert.notProperty(made.spec.template.spec, key)
    })
  },
  {
    title: "a service does not store zero numbers and empty strings",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const ports = [{ name: "", nodePort: 0, port: 80, targetPort: 0 }]
      const nothing = { externalIPs: [], loadBalancerIP: "", publishNotReadyAddresses: false, selector: {} }
      const made = done(yield* ask("POST", at(namespace).services, service("a", { ports, ...nothing })))
      assert.deepStrictEqual(made.spec.ports, [{ port: 80, protocol: "TCP", targetPort: 80 }])
      for (const key of Object.keys(nothing)) assert.notProperty(made.spec, key)
      assert.deepStrictEqual(made.status, { loadBalancer: {} })
    })
  }
]

const always: ReadonlyArray<Case> = [
  {
    title: "struct fields without pointer are present, even when empty",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { leases, quotas } = at(namespace)
      const named = { metadata: { name: "a" } }
      const policies = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
      assert.deepStrictEqual(content(done(yield* ask("POST", leases, named))), { spec: {} })
      assert.deepStrictEqual(content(done(yield* ask("POST", quotas, named))), { spec: {}, status: {} })
      const policy = done(yield* ask("POST", policies, { ...named, spec: { egress: [], ingress: [{}] } }))
      assert.deepStrictEqual(policy.spec, { podSelector: {}, ingress: [{}], policyTypes: ["Ingress"] })
    })
  },
  {
    title: "a required list that is empty or missing is null",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const roles = `${rbac(namespace)}/roles`
      assert.deepStrictEqual(content(done(yield* ask("POST", roles, { metadata: { name: "a" } }))), { rules: null })
      done(yield* ask("POST", roles, { metadata: { name: "b" }, rules: [] }))
      assert.deepStrictEqual(content(done(yield* ask("GET", `${roles}/b`))), { rules: null })
      const limits = done(yield* ask("POST", at(namespace).limits, { metadata: { name: "a" } }))
      assert.deepStrictEqual(limits.spec, { limits: null })
      const node = { metadata: { name: namespace }, spec: { drivers: [] } }
      const drivers = done(yield* ask("POST", "/apis/storage.k8s.io/v1/csinodes", node))
      assert.deepStrictEqual(drivers.spec, { drivers: null })
    })
  },
  {
    title: "a role rule stores its lists, except empty optional ones",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] }
      const sent = { ...rule, nonResourceURLs: [], resourceNames: [] }
      const role = { metadata: { name: "a" }, rules: [sent] }
      assert.deepStrictEqual(done(yield* ask("POST", `${rbac(namespace)}/roles`, role)).rules, [rule])
      const roleRef = { apiGroup: "", kind: "Role", name: "a" }
      const binding = { metadata: { name: "a" }, roleRef, subjects: [] }
      assert.deepStrictEqual(content(done(yield* ask("POST", `${rbac(namespace)}/rolebindings`, binding))), {
        roleRef: { ...roleRef, apiGroup: "rbac.authorization.k8s.io" }
      })
    })
  },
  {
    title: "missing nodeInfo of a node is stored as empty strings",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const status = { conditions: [{ type: "Ready", status: "True" }], images: [{ sizeBytes: 0 }] }
      const sent = { metadata: { name: namespace }, spec: { podCIDR: "", unschedulable: false }, status }
      const node = done(yield* ask("POST", "/api/v1/nodes", sent))
      assert.deepStrictEqual([...new Set(Object.values(node.status.nodeInfo))], [""])
      assert.deepStrictEqual(
        [node.status.daemonEndpoints, node.status.images],
        [{ kubeletEndpoint: { Port: 0 } }, [{ names: null }]]
      )
      const ready = { type: "Ready", status: "True", lastHeartbeatTime: null, lastTransitionTime: null }
      assert.deepStrictEqual(node.status.conditions, [ready])
      for (const key of ["podCIDR", "unschedulable"]) assert.notProperty(node.spec, key)
    })
  },
  {
    title: "an event has all times and sources in both groups",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const sent = { metadata: { name: "a" }, involvedObject: { namespace }, count: 0, message: "", type: "Normal" }
      const made = done(yield* ask("POST", at(namespace).events, sent))
      const common = { eventTime: null, reportingInstance: "", type: "Normal" }
      assert.deepStrictEqual(content(made), {
        ...common,
        firstTimestamp: null,
        involvedObject: { namespace },
        lastTimestamp: null,
        reportingComponent: "",
        source: {}
      })
      const other = done(yield* ask("GET", `/apis/events.k8s.io/v1/namespaces/${namespace}/events/a`))
      const { reportingInstance: _reportingInstance, ...told } = common
      assert.deepStrictEqual(content(other), {
        ...told,
        deprecatedFirstTimestamp: null,
        deprecatedLastTimestamp: null,
        deprecatedSource: {},
        regarding: { namespace }
      })
    })
  },
  {
    title: "claim templates of a StatefulSet have apiVersion, kind and status",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const claim = { accessModes: ["ReadWriteOnce"], resources: { limits: {}, requests: { storage: "1Gi" } } }
      const spec = { ...matching, serviceName: "", volumeClaimTemplates: [{ metadata: { name: "v" }, spec: claim }] }
      const made = done(yield* ask("POST", at(namespace).statefulSets, { metadata: { name: "a" }, spec }))
      assert.strictEqual(made.spec.serviceName, "")
      const [{ metadata, ...rest }] = made.spec.volumeClaimTemplates
      assert.strictEqual(metadata.name, "v")
      assert.deepStrictEqual(rest, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        spec: { accessModes: claim.accessModes, resources: { requests: { storage: "1Gi" } }, volumeMode: "Filesystem" },
        status: { phase: "Pending" }
      })
    })
  },
  {
    title: "a Scale with replicas 0 has no replicas field",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      done(yield* ask("POST", deployments, deployment("a", { ...matching, replicas: 3 })))
      const path = `${deployments}/a/scale`
      const scale = done(yield* ask("PATCH", path, { spec: { replicas: 0 } }, merge))
      assert.deepStrictEqual([scale.spec, scale.status.replicas], [{}, 0])
      assert.deepStrictEqual(done(yield* ask("GET", path)).spec, {})
      assert.strictEqual(done(yield* ask("GET", `${deployments}/a`)).spec.replicas, 0)
    })
  },
  {
    title: "a pod template without creationTimestamp is stored without it",
    since: 34,
    rule: "metav1.ObjectMeta, creationTimestamp is omitzero",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const made = done(yield* ask("POST", at(namespace).deployments, deployment("a")))
      assert.deepStrictEqual(made.spec.template.metadata, { labels: { app: "a" } })
    })
  }
]

const changed: ReadonlyArray<Case> = [
  {
    title: "an update to an empty value removes a field, and an empty value for a missing one changes nothing",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      const body = (data: object) => ({ metadata: { name: "a" }, data })
      done(yield* ask("POST", configMaps, body({ k: "v" })))
      const emptied = done(yield* ask("PUT", `${configMaps}/a`, body({})))
      assert.deepStrictEqual(content(emptied), {})
      const again = done(yield* ask("PUT", `${configMaps}/a`, { ...body({}), binaryData: {} }))
      assert.strictEqual(again.metadata.resourceVersion, emptied.metadata.resourceVersion)
    })
  },
  {
    title: "an empty value that a patch creates is not stored, whatever the type of patch",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      const made = done(yield* ask("POST", deployments, deployment("a")))
      const path = `${deployments}/a`
      const nothing = { minReadySeconds: 0, paused: false, template: { spec: { hostAliases: [], hostname: "" } } }
      const operations = [
        { op: "add", path: "/spec/paused", value: false },
        { op: "add", path: "/spec/template/spec/volumes", value: [] },
        { op: "add", path: "/metadata/labels", value: {} }
      ]
      for (const reply of [
        yield* ask("PATCH", path, { spec: nothing }, merge),
        yield* ask("PATCH", path, { spec: nothing }, strategic),
        yield* ask("PATCH", path, operations, jsonPatch)
      ]) {
        const after = done(reply)
        assert.deepStrictEqual(after.spec, made.spec)
        assert.strictEqual(after.metadata.resourceVersion, made.metadata.resourceVersion)
      }
    })
  },
  {
    title: "a status has null for absent times, and no empty strings",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { pods } = at(namespace)
      done(yield* ask("POST", pods, podOf("a")))
      const status = {
        conditions: [{ type: "Ready", status: "False", message: "", reason: "" }],
        containerStatuses: [{ name: "main", ready: false, restartCount: 0 }],
        hostIP: "",
        message: "",
        podIPs: []
      }
      const after = done(yield* ask("PATCH", `${pods}/a/status`, { status }, merge))
      assert.deepStrictEqual(after.status, {
        conditions: [{ type: "Ready", status: "False", lastProbeTime: null, lastTransitionTime: null }],
        containerStatuses: [
          { name: "main", image: "", imageID: "", lastState: {}, ready: false, restartCount: 0, state: {} }
        ],
        phase: "Pending",
        qosClass: "BestEffort"
      })
      const condition = { ".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {} }
      const owned = after.metadata.managedFields.find((entry: any) => "f:status" in entry.fieldsV1)
      assert.deepStrictEqual(owned.fieldsV1["f:status"]["f:conditions"]['k:{"type":"Ready"}'], condition)
    })
  }
]

export const absent: ReadonlyArray<Case> = [...written, ...always, ...changed]

/** The embedded cluster serves each built-in kind through its descriptor: objects are created, listed, changed and deleted. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import * as resources from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"

const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "web:1" }] } }
const selector = { matchLabels: { app: "a" } }
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }]
const webhook = {
  name: "a.example.com",
  clientConfig: { url: "https://127.0.0.1:1/" },
  admissionReviewVersions: ["v1"],
  sideEffects: "None"
}

/** The smallest valid object of each kind, without its metadata, and its name where that is not `a`. */
const smallest: Readonly<Record<string, { readonly name?: string; readonly [member: string]: unknown }>> = {
  ConfigMap: {},
  Secret: {},
  ServiceAccount: {},
  Namespace: {},
  Node: {},
  Endpoints: {},
  LimitRange: {},
  ResourceQuota: {},
  Pod: { spec: template.spec },
  PodTemplate: { template },
  Service: { spec: { ports: [{ port: 80 }] } },
  Event: { involvedObject: { namespace: "default" } },
  ReplicationController: { spec: { replicas: 0, selector: selector.matchLabels, template } },
  PersistentVolumeClaim: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  PersistentVolume: {
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" } }
  },
  Deployment: { spec: { selector, template } },
  ReplicaSet: { spec: { selector, template } },
  StatefulSet: { spec: { selector, template, serviceName: "a" } },
  DaemonSet: { spec: { selector, template } },
  ControllerRevision: { revision: 1, data: {} },
  Job: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
  CronJob: {
    spec: {
      schedule: "0 0 * * *",
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } }
    }
  },
  HorizontalPodAutoscaler: {
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" } }
  },
  PodDisruptionBudget: { spec: { minAvailable: 1, selector } },
  EndpointSlice: { addressType: "IPv4", endpoints: [] },
  Ingress: { spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } } },
  IngressClass: { spec: { controller: "example.com/ingress" } },
  NetworkPolicy: { spec: { podSelector: {} } },
  IPAddress: { name: "10.0.0.7", spec: { parentRef: { resource: "services", namespace: "default", name: "a" } } },
  ServiceCIDR: { spec: { cidrs: ["10.96.0.0/16"] } },
  Role: { rules: [] },
  ClusterRole: { rules: [] },
  RoleBinding: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" }, subjects: [] },
  ClusterRoleBinding: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" } },
  CertificateSigningRequest: {
    spec: { request: "YQ==", signerName: "example.com/signer", usages: ["client auth"] }
  },
  StorageClass: { provisioner: "example.com/disk" },
  VolumeAttachment: { spec: { attacher: "disk", nodeName: "a", source: { persistentVolumeName: "a" } } },
  VolumeAttributesClass: { driverName: "disk.example.com", parameters: { iops: "100" } },
  CSIDriver: { spec: {} },
  CSINode: { spec: { drivers: [] } },
  CSIStorageCapacity: { storageClassName: "fast", capacity: "1000Mi" },
  Lease: { spec: {} },
  PriorityClass: { value: 10 },
  RuntimeClass: { handler: "runsc" },
  DeviceClass: { spec: {} },
  ResourceClaim: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } },
  ResourceClaimTemplate: { spec: { spec: { devices: {} } } },
  ResourceSlice: {
    spec: { driver: "gpu.example.com", nodeName: "a", pool: { name: "a", generation: 1, resourceSliceCount: 1 } }
  },
  CustomResourceDefinition: {
    name: "teams.example.com",
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Team", plural: "teams" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
    }
  },
  ValidatingWebhookConfiguration: { webhooks: [webhook] },
  MutatingWebhookConfiguration: { webhooks: [webhook] },
  ValidatingAdmissionPolicy: {
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }]
      },
      validations: [{ expression: "true" }]
    }
  },
  ValidatingAdmissionPolicyBinding: { spec: { policyName: "a", validationActions: ["Deny"] } },
  MutatingAdmissionPolicy: {
    spec: {
      matchConstraints: { resourceRules: rules },
      reinvocationPolicy: "Never",
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[]" } }]
    }
  },
  MutatingAdmissionPolicyBinding: { spec: { policyName: "a" } },
  FlowSchema: { spec: { priorityLevelConfiguration: { name: "a" } } },
  PriorityLevelConfiguration: { spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } } }
}

/** Kinds without a `create`. */
const readOnly = new Set(["ComponentStatus", "APIService"])

const all: ReadonlyArray<Resource.AnyCreatable> = Object.values(resources)
const kinds = all.flatMap((one) => (one.projection === "none" ? [] : [one]))
const writable = kinds.filter((one) => !readOnly.has(one.kind) && one.id !== resources.EventsEvent.id)

const draftOf = ({ kind, scope }: Resource.Any) => {
  const { name = "a", ...rest } = smallest[kind] ?? {}
  const metadata = scope === "Cluster" ? { name } : { name, namespace: "default" }
  return { metadata, ...rest }
}

describe("kinds of the embedded cluster", () => {
  for (const resource of writable) {
    it.effect(`${resource.kind} is created, read, changed and deleted through its descriptor`, () =>
      Effect.gen(function* () {
        const client = yield* KubeClient
        assert.property(smallest, resource.kind)
        const { metadata, ...rest } = draftOf(resource)
        const created: KubeObject = yield* client.create(resource, { metadata, ...rest }, { fieldValidation: "Strict" })
        assert.strictEqual(created.kind, resource.kind)
        assert.isString(created.metadata.uid)
        const { items } = yield* client.list(resource, { fieldSelector: `metadata.name=${metadata.name}` })
        assert.deepStrictEqual(
          items.map(({ metadata: { name } }) => name),
          [metadata.name]
        )
        const change = Patch.merge({ metadata: { labels: { a: "b" } } })
        const patched = yield* client.patch(resource, metadata, change)
        assert.deepInclude(patched.metadata.labels, { a: "b" })
        yield* client.update(resource, patched)
        yield* client.delete(resource, metadata, { gracePeriodSeconds: 0 })
        assert.notStrictEqual(patched.metadata.resourceVersion, created.metadata.resourceVersion)
      }).pipe(Effect.provide(ClusterTest.layer()))
    )
  }

  it.effect("a created object has the defaults of its kind", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const level = yield* client.create(resources.PriorityLevelConfiguration, {
        metadata: { name: "a" },
        spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } }
      })
      assert.deepStrictEqual(level.spec?.limited, {
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } }
      })
      const schema = yield* client.create(resources.FlowSchema, {
        metadata: { name: "a" },
        spec: { priorityLevelConfiguration: { name: "a" } }
      })
      assert.deepStrictEqual([schema.spec?.matchingPrecedence, schema.metadata.generation], [1000, 1])
      const claim = yield* client.create(resources.ResourceClaim, {
        metadata: { name: "a", namespace: "default" },
        spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } }
      })
      assert.deepStrictEqual(claim.spec.devices?.requests, [
        { name: "gpu", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 } }
      ])
      const capacity = yield* client.create(resources.CSIStorageCapacity, {
        metadata: { name: "a", namespace: "default" },
        storageClassName: "fast",
        capacity: "1000m"
      })
      assert.strictEqual(capacity.capacity, "1")
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("fields that are immutable stay as they are, and required ones are required", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* client.create(resources.RuntimeClass, { metadata: { name: "a" }, handler: "runsc" })
      const changed = yield* Effect.flip(
        client.patch(resources.RuntimeClass, { name: "a" }, Patch.merge({ handler: "kata" }))
      )
      assert.strictEqual(
        changed.detail,
        'RuntimeClass.node.k8s.io "a" is invalid: handler: Invalid value: "kata": field is immutable'
      )
      const spec = { parentRef: { resource: "services", name: "a" } }
      const named = yield* Effect.flip(client.create(resources.IPAddress, { metadata: { name: "10.0.0.07" }, spec }))
      assert.match(named.detail, /metadata.name: Invalid value: "10.0.0.07"/)
      const empty = yield* Effect.flip(
        client.create(resources.VolumeAttributesClass, { metadata: { name: "a" }, driverName: "" })
      )
      assert.match(empty.detail, /driverName: Required value/)
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("a certificate request has the user that sent it, keeps its spec, and is approved by its subresource", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const request = yield* client.create(resources.CertificateSigningRequest, {
        metadata: { name: "a" },
        spec: { request: "YQ==", signerName: "example.com/signer", usages: ["client auth"], username: "somebody-else" }
      })
      assert.notStrictEqual(request.spec.username, "somebody-else")
      assert.isNotEmpty(request.spec.username)
      const kept = yield* client.patch(
        resources.CertificateSigningRequest,
        { name: "a" },
        Patch.merge({ spec: { signerName: "other" }, status: { certificate: "YQ==" } })
      )
      assert.deepStrictEqual([kept.spec, kept.status], [request.spec, {}])
      const condition = { type: "Approved", status: "True", reason: "Tested", message: "" }
      const approved = yield* client.patch(
        resources.CertificateSigningRequest,
        { name: "a", subresource: "approval" },
        Patch.merge({ status: { certificate: "YQ==", conditions: [condition] } })
      )
      assert.isUndefined(approved.status?.certificate)
      const [found] = approved.status?.conditions ?? []
      assert.strictEqual(found?.type, "Approved")
      assert.strictEqual(found?.lastUpdateTime, found?.lastTransitionTime)
      const issued = yield* client.patch(
        resources.CertificateSigningRequest,
        { name: "a", subresource: "status" },
        Patch.merge({ status: { certificate: "YQ==" } })
      )
      assert.strictEqual(issued.status?.certificate, "YQ==")
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("a review is created, and nothing else can be done with it", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const { status } = yield* client.create(resources.SelfSubjectAccessReview, {
        metadata: {},
        spec: { resourceAttributes: { verb: "list", resource: "pods" } }
      })
      assert.isTrue(status?.allowed)
      // @ts-expect-error -- there is no object to read
      const refused = yield* Effect.flip(client.list(resources.SelfSubjectAccessReview))
      assert.strictEqual(refused.status, 405)
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

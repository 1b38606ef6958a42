/** Printer cells of each resource, as kube-apiserver prints them; where versions differ, the newer one. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "../../../src/apiserver/json.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import { generic } from "../../../src/apiserver/printers/columns.ts"
import { humanDuration } from "../../../src/kube/humanDuration.ts"

const created = "2024-01-01T00:00:00Z"
/** One minute after the creation. */
const now = Date.parse(created) + 60_000

const cells = (plural: string, object: JsonObject): JsonObject => {
  const resource = resources.all.find((one) => one.plural === plural)
  const columns = resource?.columns ?? generic
  const full = { ...object, metadata: { name: "a", creationTimestamp: created, ...(object["metadata"] as JsonObject) } }
  return Object.fromEntries(columns.map((column) => [column.name, column.cell(full, now)]))
}

const rows: ReadonlyArray<readonly [plural: string, object: JsonObject, cells: JsonObject]> = [
  [
    "resourcequotas",
    {
      status: {
        hard: { pods: "3", "requests.cpu": "1", "limits.cpu": "2" },
        used: { pods: "1", "requests.cpu": "500m", "limits.cpu": "1" }
      }
    },
    { Request: "pods: 1/3, requests.cpu: 500m/1", Limit: "limits.cpu: 1/2", Age: "60s" }
  ],
  ["limitranges", {}, { Name: "a", "Created At": created }],
  [
    "certificatesigningrequests",
    {
      spec: { signerName: "example.com/signer", username: "jane", expirationSeconds: 7200 },
      status: { certificate: "YQ==", conditions: [{ type: "Approved" }] }
    },
    {
      SignerName: "example.com/signer",
      Requestor: "jane",
      RequestedDuration: "120m",
      Condition: "Approved,Issued"
    }
  ],
  ["certificatesigningrequests", {}, { SignerName: "<none>", RequestedDuration: "<none>", Condition: "Pending" }],
  ["runtimeclasses", { handler: "runsc" }, { Name: "a", Handler: "runsc", Age: "60s" }],
  [
    "ipaddresses",
    { spec: { parentRef: { group: "gateway.example.com", resource: "Gateways", namespace: "shop", name: "web" } } },
    { ParentRef: "gateways.gateway.example.com/shop/web" }
  ],
  ["servicecidrs", { spec: { cidrs: ["10.96.0.0/16", "2001:db8::/64"] } }, { CIDRs: "10.96.0.0/16,2001:db8::/64" }],
  ["csistoragecapacities", { storageClassName: "fast" }, { Name: "a", StorageClassName: "fast", Capacity: "<unset>" }],
  ["volumeattributesclasses", { driverName: "disk" }, { DriverName: "disk", Age: "60s" }],
  ["resourceclaims", {}, { State: "pending" }],
  ["resourceclaims", { metadata: { deletionTimestamp: created } }, { State: "deleted" }],
  [
    "resourceclaims",
    { metadata: { deletionTimestamp: created }, status: { allocation: {}, reservedFor: [{ name: "web" }] } },
    { State: "deleted,allocated,reserved" }
  ],
  [
    "resourceslices",
    { spec: { driver: "gpu", nodeName: "n1", pool: { name: "p" } } },
    { Node: "n1", Driver: "gpu", Pool: "p" }
  ],
  [
    "flowschemas",
    {
      spec: {
        priorityLevelConfiguration: { name: "catch-all" },
        matchingPrecedence: 1000,
        distinguisherMethod: { type: "ByUser" }
      },
      status: { conditions: [{ type: "Dangling", status: "False" }] }
    },
    { PriorityLevel: "catch-all", MatchingPrecedence: 1000, DistinguisherMethod: "ByUser", MissingPL: "False" }
  ],
  [
    "prioritylevelconfigurations",
    { spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } } },
    { Type: "Limited", NominalConcurrencyShares: 5, Queues: "<none>", HandSize: "<none>", QueueLengthLimit: "<none>" }
  ],
  [
    "mutatingadmissionpolicies",
    { spec: { mutations: [{}, {}], paramKind: { apiVersion: "v1", kind: "ConfigMap" } } },
    { Mutations: 2, ParamKind: "v1/ConfigMap" }
  ],
  [
    "mutatingadmissionpolicybindings",
    { spec: { policyName: "p", paramRef: { name: "settings" } } },
    { PolicyName: "p", ParamRef: "*/settings" }
  ],
  [
    "pods",
    {
      spec: {
        initContainers: [{ name: "migrate" }, { name: "proxy", restartPolicy: "Always" }],
        containers: [{ name: "main" }]
      },
      status: {
        phase: "Running",
        initContainerStatuses: [
          { name: "migrate", ready: true, restartCount: 4, state: { terminated: { exitCode: 0 } } },
          { name: "proxy", ready: true, started: true, restartCount: 1, state: { running: {} } }
        ],
        containerStatuses: [{ name: "main", ready: false, restartCount: 2, state: { running: {} } }]
      }
    },
    { Ready: "1/2", Status: "Running", Restarts: "3" }
  ],
  [
    "pods",
    {
      spec: { initContainers: [{ name: "proxy", restartPolicy: "Always" }], containers: [{ name: "main" }] },
      status: {
        phase: "Pending",
        initContainerStatuses: [{ name: "proxy", started: false, state: { running: {} } }]
      }
    },
    { Ready: "0/2", Status: "Init:0/1" }
  ],
  ["roles", {}, { Name: "a", "Created At": created }],
  [
    "rolebindings",
    {
      roleRef: { kind: "Role", name: "r" },
      subjects: [
        { kind: "User", name: "u1" },
        { kind: "User", name: "u2" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s", namespace: "n" }
      ]
    },
    { Role: "Role/r", Age: "60s", Users: "u1, u2", Groups: "g", ServiceAccounts: "n/s" }
  ],
  ["priorityclasses", { value: 5, globalDefault: true }, { Value: 5, "Global-Default": true, PreemptionPolicy: "" }],
  [
    "endpointslices",
    {
      addressType: "IPv4",
      ports: [{ port: 80 }, {}],
      endpoints: ["1", "2", "3", "4"].map((last) => ({ addresses: [`10.0.0.${last}`] }))
    },
    { AddressType: "IPv4", Ports: "80,*", Endpoints: "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more..." }
  ],
  ["endpointslices", { addressType: "IPv4", endpoints: [] }, { Ports: "<unset>", Endpoints: "<unset>" }],
  [
    "endpoints",
    {
      subsets: [
        { addresses: [{ ip: "1" }, { ip: "2" }], ports: [{ port: 80 }, { port: 81 }] },
        { addresses: [{ ip: "9" }] }
      ]
    },
    { Endpoints: "1:80,2:80,1:81 + 2 more..." }
  ],
  ["endpoints", {}, { Endpoints: "<none>" }],
  [
    "horizontalpodautoscalers",
    {
      spec: {
        minReplicas: 1,
        maxReplicas: 3,
        scaleTargetRef: { kind: "Deployment", name: "d" },
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 50 } } },
          { type: "Resource", resource: { name: "memory", target: { averageValue: "100Mi" } } },
          { type: "External", external: { target: { value: "7" } } }
        ]
      },
      status: {
        currentReplicas: 2,
        currentMetrics: [{ type: "Resource", resource: { current: { averageUtilization: 20 } } }]
      }
    },
    {
      Reference: "Deployment/d",
      Targets: "cpu: 20%/50%, memory: <unknown>/100Mi + 1 more...",
      MinPods: "1",
      MaxPods: 3,
      Replicas: 2
    }
  ],
  [
    "ingresses",
    {
      spec: { ingressClassName: "c", tls: [{}], rules: [{ host: "h" }, {}] },
      status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }, { hostname: "x.y" }] } }
    },
    { Class: "c", Hosts: "h", Address: "1.1.1.1,x.y", Ports: "80, 443" }
  ],
  ["ingresses", { spec: {} }, { Class: "<none>", Hosts: "*", Address: "", Ports: "80" }],
  [
    "ingressclasses",
    { spec: { controller: "a/b", parameters: { kind: "X", name: "y", apiGroup: "g.h" } } },
    { Controller: "a/b", Parameters: "X.g.h/y" }
  ],
  [
    "networkpolicies",
    {
      spec: {
        podSelector: {
          matchLabels: { k: "v" },
          matchExpressions: [
            { key: "a", operator: "In", values: ["c", "b"] },
            { key: "z", operator: "Exists" },
            { key: "y", operator: "DoesNotExist" },
            { key: "w", operator: "NotIn", values: ["q"] }
          ]
        }
      }
    },
    { "Pod-Selector": "a in (b,c),k=v,w notin (q),!y,z" }
  ],
  [
    "controllerrevisions",
    {
      revision: 3,
      metadata: { ownerReferences: [{ controller: true, kind: "StatefulSet", apiVersion: "apps/v1", name: "s" }] }
    },
    { Controller: "statefulset.apps/s", Revision: 3 }
  ],
  [
    "podtemplates",
    {
      template: {
        metadata: { labels: { a: "b" } },
        spec: {
          containers: [
            { name: "x", image: "i:1" },
            { name: "y", image: "i:2" }
          ]
        }
      }
    },
    { Containers: "x,y", Images: "i:1,i:2", "Pod Labels": "a=b" }
  ],
  [
    "csidrivers",
    { spec: {} },
    { AttachRequired: true, PodInfoOnMount: false, TokenRequests: "<unset>", Modes: "Persistent" }
  ],
  [
    "volumeattachments",
    { spec: { attacher: "x", nodeName: "n", source: { persistentVolumeName: "p" } } },
    { Attacher: "x", PV: "p", Node: "n", Attached: false }
  ],
  [
    "services",
    { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
    { "External-IP": "<pending>", "Port(s)": "80/TCP" }
  ],
  [
    "services",
    {
      spec: { type: "LoadBalancer", externalIPs: ["1.2.3.4"], ports: [{ port: 80, nodePort: 30000 }] },
      status: { loadBalancer: { ingress: [{ hostname: "x.y" }] } }
    },
    { "External-IP": "x.y,1.2.3.4", "Port(s)": "80:30000/TCP" }
  ],
  [
    "services",
    { spec: { type: "ExternalName", externalName: "a.example" } },
    { "External-IP": "a.example", "Port(s)": "<none>" }
  ],
  [
    "pods",
    {
      spec: { readinessGates: [{ conditionType: "x" }, { conditionType: "y" }], containers: [{ name: "a" }] },
      status: { conditions: [{ type: "x", status: "True" }] }
    },
    { Ready: "0/1", "Readiness Gates": "1/2" }
  ]
]

describe("printer columns", () => {
  rows.forEach(([plural, object, expected], index) => {
    it(`of ${plural} (${index})`, () => assert.deepInclude(cells(plural, object), expected))
  })

  it("of every resource accept an empty object", () => {
    for (const resource of resources.all) {
      for (const column of resource.columns ?? generic) {
        const cell = column.cell({ metadata: { name: "a" } }, now)
        const type = column.type === "date" ? "string" : column.type === "integer" ? "number" : column.type
        if (column.type !== "string") assert.strictEqual(typeof cell, type, `${resource.plural} ${column.name}`)
        assert.notInclude(String(cell), "undefined")
      }
    }
  })

  it("ages print one or two units", () => {
    const minute = 60_000
    const ages = [
      0,
      119_000,
      2 * minute,
      9.5 * minute,
      179 * minute,
      3 * 60 * minute,
      47 * 60 * minute,
      400 * 24 * 60 * minute
    ]
    assert.deepStrictEqual(ages.map(humanDuration), ["0s", "119s", "2m", "9m30s", "179m", "3h", "47h", "400d"])
  })
})

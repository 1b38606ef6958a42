/** Messages of a small program, for the tests of the page. Every text that a user of the cluster chooses can be replaced by one that attacks. */
import type { Controller, Message, ObjectView, Pod } from "../../../../src/manager/console/protocol.ts"

const quiet = { ready: 0, delayed: 0, processing: 0, failing: 0 }

const controller = (name: string, of: Partial<Controller>): Controller => ({
  name,
  state: "started",
  workers: 5,
  active: 0,
  queue: quiet,
  oldest: null,
  runs: 0,
  failures: 0,
  p50: null,
  p99: null,
  lastError: null,
  reads: ["deployments.apps", "replicasets.apps"],
  keys: [],
  ...of
})

export const controllers = (at: number, text = "default/web", runs = 1000): Message => ({
  type: "controllers",
  at,
  disabled: ["tokencleaner"],
  controllers: [
    controller("deployment", {
      active: 2,
      queue: { ready: 3, delayed: 1, processing: 2, failing: 1 },
      oldest: 4200,
      runs,
      failures: 7,
      p50: 1.4,
      p99: 38,
      lastError: { message: `cannot update ${text}: conflict`, key: text, at: at - 5000 },
      keys: [
        { state: "running", key: "default/api", since: at - 300 },
        { state: "ready", key: "default/shop", priority: 0, since: at - 4200 },
        { state: "delayed", key: text, due: at + 60_000, failures: 3 },
        { state: "delayed", key: "default/blog", due: at + 9000, failures: 1, error: `forbidden: ${text}` }
      ]
    }),
    controller("replicaset", { runs: 420, p50: 0.8, p99: 12 }),
    controller("job", { state: "waiting", reason: "jobs.batch is not synced", reads: ["jobs.batch"] }),
    controller("certificates", { state: "skipped", reason: "no certificate is configured" }),
    controller("volumes", { state: "failed", reason: `may not list ${text}` })
  ]
})

export const pod = (key: string, node: string | null, of: Partial<Pod> = {}): Pod => ({
  key,
  node,
  phase: "Running",
  ready: true,
  reason: null,
  owner: "ReplicaSet/web-1",
  deleting: false,
  ...of
})

export const messages = (at: number, text = "default/web"): ReadonlyArray<Message> => [
  {
    type: "hello",
    program: {
      name: "test-manager",
      version: "1.2.3",
      server: "https://127.0.0.1:6443",
      isEmbedded: true,
      startedAt: at - 90_000
    }
  },
  controllers(at, text),
  {
    type: "informers",
    at,
    informers: [
      {
        kind: "deployments.apps",
        scope: "everywhere",
        synced: true,
        objects: 12_345,
        bytes: 3_500_000,
        lastEventAt: at - 2000,
        failuresInARow: 0,
        failures: 9,
        relists: 3,
        lastError: null,
        subscribers: 3
      },
      {
        kind: "jobs.batch",
        scope: text,
        synced: false,
        objects: 0,
        bytes: null,
        lastEventAt: null,
        failuresInARow: 4,
        failures: 4,
        relists: 0,
        lastError: { message: `forbidden: ${text}`, at: at - 1000, retryIn: 8000 },
        subscribers: 1
      }
    ]
  },
  {
    type: "leadership",
    at,
    fencedWrites: 2,
    groups: [
      {
        lease: "kube-system/manager",
        identity: "host-a",
        leader: text,
        leads: false,
        validFor: null,
        terms: 3,
        since: null,
        transitions: 41,
        renewals: [
          ...Array.from({ length: 57 }, (_, index) => ({
            at: at - 120_000 + index * 2000,
            took: 5 + (index % 7),
            isRenewed: true
          })),
          { at: at - 6000, took: 5000, isRenewed: false }
        ],
        lastError: { message: `cannot update ${text}: timeout`, at: at - 1000 },
        controllers: ["deployment", "replicaset"]
      },
      {
        lease: "default/other",
        identity: "host-a",
        leader: "host-a",
        leads: true,
        validFor: 12_000,
        terms: 1,
        since: at - 200_000,
        transitions: 0,
        renewals: [{ at: at - 1000, took: 7, isRenewed: true }],
        lastError: null,
        controllers: ["certificates"]
      },
      {
        lease: null,
        identity: null,
        leader: null,
        leads: true,
        validFor: null,
        terms: 0,
        since: null,
        transitions: null,
        renewals: [],
        lastError: null,
        controllers: ["job"]
      }
    ]
  },
  {
    type: "cluster",
    at,
    nodes: {
      reset: true,
      changed: [
        { name: "worker-1", ready: true, schedulable: true },
        { name: "worker-2", ready: false, schedulable: true }
      ],
      removed: []
    },
    pods: {
      reset: true,
      changed: [
        pod("default/web-1-a", "worker-1"),
        pod("default/web-1-b", "worker-1", { ready: false, phase: "Pending", reason: "ContainerCreating" }),
        pod("default/web-1-c", "worker-2", { ready: false, phase: "Pending", reason: "ImagePullBackOff" }),
        pod(text, null, { ready: false, phase: "Pending", owner: `ReplicaSet/${text}` })
      ],
      removed: []
    }
  }
]

const nothing = { objects: [], more: 0 }

export const object = (at: number, text = "default/web"): ObjectView => ({
  resource: "deployments.apps",
  kind: "Deployment",
  key: text,
  exists: true,
  truncated: true,
  due: [{ controller: "deployment", at: at + 60_000, failures: 3 }],
  owners: {
    objects: [
      {
        resource: "memcacheds.example.com",
        kind: "Memcached",
        key: "default/owner",
        state: "ready",
        next: {
          objects: [{ resource: "", kind: "Team", key: "first", state: "not in the cache", next: nothing }],
          more: 0
        }
      }
    ],
    more: 0
  },
  dependants: {
    objects: [
      {
        resource: "replicasets.apps",
        kind: "ReplicaSet",
        key: "default/web-1",
        state: "3/3 ready",
        next: {
          objects: [{ resource: "pods", kind: "Pod", key: "default/web-1-a", state: "Running", next: nothing }],
          more: 180
        }
      },
      {
        resource: "replicasets.apps",
        kind: "ReplicaSet",
        key: `${text}-2`,
        state: `${text} not in the cache`,
        next: nothing
      }
    ],
    more: 0
  },
  timeline: [
    {
      type: "change",
      kind: "Pod",
      id: 1,
      at: at - 9000,
      resource: "deployments.apps",
      key: text,
      change: "modified",
      resourceVersion: "41",
      paths: ["spec.replicas", text]
    },
    {
      type: "reconcile",
      resource: "deployments.apps",
      id: 2,
      at: at - 8900,
      controller: "deployment",
      key: text,
      causes: [null, 1],
      reasons: ["requeueAfter 600000 ms", `Deployment ${text} modified: spec.replicas`],
      waited: 12,
      duration: 34,
      outcome: "done"
    },
    {
      type: "write",
      id: 3,
      at: at - 8880,
      controller: "deployment",
      causes: [2],
      verb: "update",
      resource: "replicasets.apps",
      key: "default/web-1",
      status: 200,
      duration: 6.5
    },
    {
      type: "event",
      id: 4,
      at: at - 8870,
      controller: "deployment",
      causes: [2],
      kind: "Normal",
      resource: "deployments.apps",
      key: text,
      reason: "ScalingReplicaSet",
      message: `Scaled up ${text}`
    },
    {
      type: "change",
      kind: "Pod",
      id: 5,
      at: at - 8860,
      resource: "replicasets.apps",
      key: "default/web-1",
      change: "modified",
      resourceVersion: "42",
      paths: ["spec.replicas"]
    },
    {
      type: "reconcile",
      resource: "deployments.apps",
      id: 6,
      at: at - 5000,
      controller: "deployment",
      key: text,
      causes: [5, 0],
      reasons: ["ReplicaSet default/web-1 modified: spec.replicas", "resync"],
      waited: 1,
      duration: 9,
      outcome: "error",
      error: `cannot update ${text}: conflict`,
      attempt: 3,
      due: at + 60_000
    },
    {
      type: "write",
      id: 7,
      at: at - 4995,
      controller: "deployment",
      causes: [6],
      verb: "update",
      resource: "deployments.apps",
      key: text,
      subresource: "status",
      status: 409,
      error: "conflict",
      duration: 3
    }
  ]
})

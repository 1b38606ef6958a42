/** Writes: defaults and immutable fields. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { done, invalid, merge, strategic } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, containers, deployment, job, matching, podOf, service, template } from "../objects.ts"

const alike = { apiVersion: "apps/v1", metadata: { name: "a" } }

const container = (rest: object) => ({ containers: [{ name: "main", image: "registry.example/app:1", ...rest }] })

/** Changes of immutable fields. */
const fixed: ReadonlyArray<Case> = [
  {
    title: "the selector of a replica set cannot be changed",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { replicaSets } = at(namespace)
      done(yield* ask("POST", replicaSets, { ...alike, spec: matching }))
      const changed = { selector: { matchLabels: { app: "b" } }, template: template({ app: "b" }) }
      const reply = yield* ask("PUT", `${replicaSets}/a`, { ...alike, spec: changed })
      invalid(reply, 'ReplicaSet.apps "a"', ["spec.selector", "FieldValueInvalid", "field is immutable"])
    })
  },
  {
    title: "the selector of a deployment cannot be changed",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { deployments } = at(namespace)
      done(yield* ask("POST", deployments, deployment("a")))
      const spec = { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
      const reply = yield* ask("PATCH", `${deployments}/a`, { spec }, merge)
      invalid(reply, 'Deployment.apps "a"', ["spec.selector", "FieldValueInvalid", "field is immutable"])
    })
  },
  {
    title: "serviceName of a StatefulSet is immutable",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { statefulSets } = at(namespace)
      done(yield* ask("POST", statefulSets, { ...alike, spec: { ...matching, serviceName: "s" } }))
      const reply = yield* ask("PATCH", `${statefulSets}/a`, { spec: { serviceName: "t" } }, merge)
      invalid(reply, 'StatefulSet.apps "a"', [
        "spec",
        "FieldValueForbidden",
        "Forbidden: updates to statefulset spec for fields other than 'replicas', "
      ])
    })
  },
  {
    title: "a StatefulSet can mount the claims of its templates, and its pod template is not validated",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { statefulSets } = at(namespace)
      const volumeMounts = [{ name: "data", mountPath: "/data" }]
      const template = {
        ...matching.template,
        spec: { containers: [{ name: "main", image: "web:1", volumeMounts }] }
      }
      const volumeClaimTemplates = [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }]
      const spec = { ...matching, template, serviceName: "s" }
      done(yield* ask("POST", statefulSets, { ...alike, spec: { ...spec, volumeClaimTemplates } }))
      done(yield* ask("POST", statefulSets, { metadata: { name: "b" }, spec }))
    })
  },
  {
    title: "completions and template of a Job are immutable",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      done(yield* ask("POST", jobs, job("a")))
      const completions = yield* ask("PATCH", `${jobs}/a`, { spec: { completions: 5 } }, merge)
      invalid(completions, 'Job.batch "a"', ["spec.completions", "FieldValueInvalid", "field is immutable"])
      const spec = { template: { spec: { restartPolicy: "OnFailure" } } }
      const reply = yield* ask("PATCH", `${jobs}/a`, { spec }, merge)
      invalid(reply, 'Job.batch "a"', ["spec.template", "FieldValueInvalid", "field is immutable"])
      done(yield* ask("PATCH", `${jobs}/a`, { spec: { parallelism: 3 } }, merge))
    })
  },
  {
    title:
      "a suspended Job that never started may change the scheduling directives of its template, but no pod affinity",
    since: 27,
    rule: "pkg/apis/batch/validation: validatePodTemplateUpdate, with scheduling gates since 1.27",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      done(yield* ask("POST", jobs, job("a", { suspend: true })))
      const change = (spec: object, metadata: object = {}) =>
        ask("PATCH", `${jobs}/a`, { spec: { template: { metadata, spec } } }, merge)
      const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "Exists" }] }] }
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
      const term = { labelSelector: { matchLabels: { app: "a" } }, topologyKey: "kubernetes.io/hostname" }
      const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
      const immutable = ["spec.template", "FieldValueInvalid", "field is immutable"] as const
      done(yield* change({ affinity: { nodeAffinity } }))
      done(yield* change({ affinity: null }))
      for (const affinity of [{ podAffinity }, { podAntiAffinity: podAffinity }, { nodeAffinity, podAffinity }]) {
        invalid(yield* change({ affinity }), 'Job.batch "a"', immutable)
      }
      done(yield* change({ affinity: { nodeAffinity } }))
      invalid(yield* change({ affinity: { podAffinity } }), 'Job.batch "a"', immutable)
      const tolerations = [{ key: "k", operator: "Exists" }]
      const spec = { nodeSelector: { zone: "b" }, tolerations, schedulingGates: [{ name: "example.com/gate" }] }
      done(yield* change(spec, { labels: { added: "label" }, annotations: { added: "annotation" } }))

      const template = { spec: { containers, restartPolicy: "Never", affinity: { podAffinity } } }
      done(yield* ask("POST", jobs, job("b", { suspend: true, template })))
      const changeOther = (affinity: object | null) =>
        ask("PATCH", `${jobs}/b`, { spec: { template: { spec: { affinity } } } }, merge)
      done(yield* changeOther({ nodeAffinity }))
      done(yield* changeOther({ nodeAffinity: null }))
      invalid(yield* changeOther({ podAffinity: null }), 'Job.batch "b"', immutable)
      invalid(yield* changeOther(null), 'Job.batch "b"', immutable)

      done(yield* ask("POST", jobs, job("c")))
      const reply = yield* ask(
        "PATCH",
        `${jobs}/c`,
        { spec: { template: { spec: { nodeSelector: { a: "b" } } } } },
        merge
      )
      invalid(reply, 'Job.batch "c"', immutable)
    })
  },
  {
    title: "an Indexed Job changes completions only to its parallelism, whatever the two were before",
    since: 27,
    rule: "pkg/apis/batch/validation: validateCompletions (KEP-3715, elastic Indexed Jobs)",
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      done(yield* ask("POST", jobs, job("a", { completionMode: "Indexed", completions: 5, parallelism: 2 })))
      const change = (spec: object) => ask("PATCH", `${jobs}/a`, { spec }, merge)
      const alone = yield* change({ completions: 3 })
      const tandem = "can only be modified in tandem with spec.parallelism"
      invalid(alone, 'Job.batch "a"', ["spec.completions", "FieldValueInvalid", tandem])
      const missing = yield* change({ completions: null })
      invalid(missing, 'Job.batch "a"', ["spec.completions", "FieldValueRequired", "when completion mode is Indexed"])
      done(yield* change({ completions: 3, parallelism: 3 }))
      done(yield* change({ parallelism: 1 }))
      done(yield* change({ completions: 1 }))
    })
  },
  {
    title: "a pod can change only images, activeDeadlineSeconds and additional tolerations",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = `${at(namespace).pods}/a`
      done(yield* ask("POST", at(namespace).pods, podOf("a")))
      for (const spec of [{ restartPolicy: "Never" }, { nodeName: "n" }, { dnsPolicy: "Default" }]) {
        const reply = yield* ask("PATCH", path, { spec }, merge)
        invalid(reply, 'Pod "a"', [
          "spec",
          "FieldValueForbidden",
          "Forbidden: pod updates may not change fields other than"
        ])
      }
      done(yield* ask("PATCH", path, { spec: { activeDeadlineSeconds: 5 } }, merge))
      const image = { containers: [{ name: "main", image: "registry.example/app:2" }] }
      const next = done(yield* ask("PATCH", path, { spec: image }, strategic))
      assert.strictEqual(next.spec.containers[0].image, "registry.example/app:2")
    })
  },
  {
    title: "clusterIP of a Service is immutable",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { services } = at(namespace)
      const made = done(yield* ask("POST", services, service("a")))
      assert.match(made.spec.clusterIP, /^\d+\.\d+\.\d+\.\d+$/)
      const reply = yield* ask("PATCH", `${services}/a`, { spec: { clusterIP: "10.0.0.77" } }, merge)
      invalid(reply, 'Service "a"', ["spec.clusterIPs[0]", "FieldValueInvalid", "may not change once set"])
    })
  },
  {
    title: "an immutable ConfigMap cannot change its data or become mutable",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { configMaps } = at(namespace)
      done(yield* ask("POST", configMaps, { metadata: { name: "a" }, data: { k: "1" }, immutable: true }))
      const because = "Forbidden: field is immutable when `immutable` is set"
      const data = yield* ask("PATCH", `${configMaps}/a`, { data: { k: "2" } }, merge)
      invalid(data, 'ConfigMap "a"', ["data", "FieldValueForbidden", because])
      const flag = yield* ask("PATCH", `${configMaps}/a`, { immutable: false }, merge)
      invalid(flag, 'ConfigMap "a"', ["immutable", "FieldValueForbidden", because])
      done(yield* ask("PATCH", `${configMaps}/a`, { metadata: { labels: { free: "yes" } } }, merge))
    })
  }
]

const filled: ReadonlyArray<Case> = [
  {
    title: "defaults of a pod",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { spec, status } = done(yield* ask("POST", at(namespace).pods, podOf("a")))
      const { containers: made, dnsPolicy, restartPolicy, schedulerName, securityContext } = spec
      assert.deepStrictEqual(made, [
        {
          name: "main",
          image: "registry.example/app:1",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          imagePullPolicy: "IfNotPresent"
        }
      ])
      assert.deepStrictEqual(
        { dnsPolicy, restartPolicy, schedulerName, securityContext },
        {
          dnsPolicy: "ClusterFirst",
          restartPolicy: "Always",
          schedulerName: "default-scheduler",
          securityContext: {}
        }
      )
      assert.deepStrictEqual([spec.terminationGracePeriodSeconds, spec.enableServiceLinks], [30, true])
      assert.deepStrictEqual([status.phase, status.qosClass], ["Pending", "BestEffort"])
    })
  },
  {
    title: "an image without a tag is always pulled; requests default to limits, which makes the pod Guaranteed",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const limits = { cpu: "1", memory: "1Gi" }
      const spec = container({ image: "registry.example/app", resources: { limits } })
      const made = done(yield* ask("POST", at(namespace).pods, podOf("a", spec)))
      assert.strictEqual(made.spec.containers[0].imagePullPolicy, "Always")
      assert.deepStrictEqual(made.spec.containers[0].resources, { limits, requests: limits })
      assert.strictEqual(made.status.qosClass, "Guaranteed")
      const some = container({ resources: { requests: { cpu: "100m" } } })
      assert.strictEqual(done(yield* ask("POST", at(namespace).pods, podOf("b", some))).status.qosClass, "Burstable")
    })
  },
  {
    title: "pods get a priority, and tolerate not-ready and unreachable nodes for five minutes",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const made = done(yield* ask("POST", at(namespace).pods, podOf("a")))
      const toleration = (key: string) => ({
        key,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300
      })
      assert.deepStrictEqual([made.spec.priority, made.spec.preemptionPolicy], [0, "PreemptLowerPriority"])
      assert.deepStrictEqual(made.spec.tolerations, [
        toleration("node.kubernetes.io/not-ready"),
        toleration("node.kubernetes.io/unreachable")
      ])
    })
  },
  {
    title: "defaults of a deployment, and of the pods in its template",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { spec } = done(yield* ask("POST", at(namespace).deployments, deployment("a")))
      const { template: pods, ...rest } = spec
      assert.deepStrictEqual(rest, {
        replicas: 1,
        selector: matching.selector,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600
      })
      assert.deepStrictEqual(
        [
          pods.spec.restartPolicy,
          pods.spec.dnsPolicy,
          pods.spec.schedulerName,
          pods.spec.terminationGracePeriodSeconds
        ],
        ["Always", "ClusterFirst", "default-scheduler", 30]
      )
      assert.strictEqual(pods.spec.containers[0].imagePullPolicy, "IfNotPresent")
    })
  },
  {
    title: "defaults of a job: generated selector and labels",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, minor, namespace }) {
      const { metadata, spec } = done(yield* ask("POST", at(namespace).jobs, job("a")))
      assert.deepStrictEqual([spec.parallelism, spec.completions, spec.backoffLimit], [1, 1, 6])
      const prefix = minor < 27 ? "" : "batch.kubernetes.io/"
      assert.deepStrictEqual(spec.selector, { matchLabels: { [`${prefix}controller-uid`]: metadata.uid } })
      const { labels } = spec.template.metadata
      assert.deepStrictEqual([labels["controller-uid"], labels["job-name"]], [metadata.uid, "a"])
    })
  },
  {
    title: "defaults of a service",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { spec } = done(yield* ask("POST", at(namespace).services, service("a")))
      assert.deepStrictEqual(spec.ports, [{ protocol: "TCP", port: 80, targetPort: 80 }])
      assert.deepStrictEqual([spec.type, spec.sessionAffinity], ["ClusterIP", "None"])
      assert.deepStrictEqual(spec.clusterIPs, [spec.clusterIP])
      const headless = service("b", { clusterIP: "None", selector: { app: "a" } })
      assert.deepStrictEqual(done(yield* ask("POST", at(namespace).services, headless)).spec.clusterIPs, ["None"])
    })
  }
]

export const defaults: ReadonlyArray<Case> = [...filled, ...fixed]

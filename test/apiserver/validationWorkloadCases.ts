/** Invalid workloads and Jobs, and some valid updates. */
import {
  budget,
  container,
  controller,
  cronJob,
  daemonSet,
  deployment,
  job,
  labelled,
  labels,
  newer,
  once,
  printed,
  replicaSet,
  statefulSet,
  template
} from "./validationCase.ts"
import type { Case } from "./validationCase.ts"

export const workloadCases: ReadonlyArray<Case> = [
  deployment("no selector", { selector: undefined }),
  deployment("empty selector", { selector: {} }),
  deployment("a selector that does not match", { template: template({}, { labels: { app: "b" } }) }),
  deployment("a template without labels", { template: template({}, {}) }),
  deployment("a bad operator", { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }),
  deployment("a selector without values", { selector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
  deployment("negative replicas", { replicas: -1 }),
  deployment("neither surge nor unavailable", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  deployment("percentages of nothing", { strategy: { rollingUpdate: { maxSurge: "0%", maxUnavailable: "0%" } } }),
  deployment("unavailable above 100%", { strategy: { rollingUpdate: { maxUnavailable: "150%" } } }),
  deployment("no percentage", { strategy: { rollingUpdate: { maxUnavailable: "ten" } } }),
  deployment("negative surge", { strategy: { rollingUpdate: { maxSurge: -1 } } }),
  deployment("rolling parameters of Recreate", { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
  deployment("strategy", { strategy: { type: "Jump" } }),
  deployment("negative times", { minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 }),
  deployment("a deadline before ready", { minReadySeconds: 10, progressDeadlineSeconds: 10 }),
  deployment("restart policy", { template: template({ restartPolicy: "Never" }) }),
  deployment("deadline of pods", { template: template({ activeDeadlineSeconds: 5 }) }),
  deployment("no containers", { template: template({ containers: [] }) }),
  deployment("no template", { template: undefined }),
  deployment("labels of the template", { template: template({}, { labels: { app: "a", "b c": "d e" } }) }),
  deployment(
    "another selector",
    {},
    {
      spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
    }
  ),
  deployment("an update with negative replicas", {}, { spec: { replicas: -5 } }),
  replicaSet("no selector", { selector: undefined }),
  replicaSet("empty selector", { selector: {} }),
  replicaSet("negative replicas", { replicas: -1, minReadySeconds: -1 }),
  replicaSet("a selector that does not match", { selector: { matchLabels: { app: "b" } } }),
  replicaSet("no template", { template: undefined }, undefined),
  replicaSet("restart policy", { template: template({ restartPolicy: "OnFailure" }) }),
  replicaSet(
    "another selector",
    {},
    {
      spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
    }
  ),
  statefulSet("no selector", { selector: undefined }),
  statefulSet("empty selector", { selector: {} }),
  statefulSet("negative replicas", { replicas: -1 }),
  statefulSet("a selector that does not match", { selector: { matchLabels: { app: "b" } } }),
  statefulSet("pod management", { podManagementPolicy: "Chaos" }),
  statefulSet("update strategy", { updateStrategy: { type: "Jump" } }),
  statefulSet("negative partition", { updateStrategy: { rollingUpdate: { partition: -1 } } }),
  statefulSet("restart policy", { template: template({ restartPolicy: "Never" }) }),
  statefulSet("another service", {}, { spec: { serviceName: "t" } }, newer),
  statefulSet("another selector", {}, { spec: { selector: { matchLabels: { app: "b" } } } }, newer),
  statefulSet("more replicas", {}, { spec: { replicas: 3 } }),
  daemonSet("no selector", { selector: undefined }),
  daemonSet("empty selector", { selector: {} }),
  daemonSet("a selector that does not match", { selector: { matchLabels: { app: "b" } } }),
  daemonSet("nothing unavailable", { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }, undefined, newer),
  daemonSet("strategy", { updateStrategy: { type: "Jump" } }),
  daemonSet("restart policy", { template: template({ restartPolicy: "Never" }) }),
  daemonSet("negative times", { minReadySeconds: -1, revisionHistoryLimit: -1 }),
  daemonSet(
    "another selector",
    {},
    {
      spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
    }
  ),
  controller("negative replicas", { replicas: -1 }),
  controller("a selector that does not match", { selector: { app: "b" } }),
  controller("no labels", { template: template({}, {}) }),
  controller("no template", { template: undefined }),
  controller("restart policy", { template: template({ restartPolicy: "Never" }) })
]

export const jobCases: ReadonlyArray<Case> = [
  job("restart policy Always", { template: template() }),
  job("negative counts", { parallelism: -1, completions: -1, backoffLimit: -1, activeDeadlineSeconds: -1 }),
  job("a selector of one's own", { selector: { matchLabels: labels } }, undefined, labelled),
  job("a manual selector that does not match", {
    manualSelector: true,
    selector: { matchLabels: { app: "b" } }
  }),
  job("a manual selector that is missing", { manualSelector: true }),
  job("no containers", { template: { spec: { containers: [], restartPolicy: "Never" } } }),
  job("other completions", { completions: 2 }, { spec: { completions: 3 } }),
  job("more parallelism", {}, { spec: { parallelism: 3 } }),
  job("another template", {}, { spec: { template: { spec: { containers: [container({ image: "x" })] } } } }),
  job("another selector", {}, { spec: { selector: { matchLabels: { x: "y" } } } }, labelled),
  cronJob("no schedule", { schedule: "" }),
  cronJob("a schedule of four parts", { schedule: "* * * *" }, undefined, newer),
  cronJob("minute 60", { schedule: "60 * * * *" }, undefined, newer),
  cronJob("words", { schedule: "at night * * *" }, undefined, newer),
  cronJob("concurrency", { concurrencyPolicy: "Sometimes" }),
  cronJob("negative counts", {
    startingDeadlineSeconds: -1,
    successfulJobsHistoryLimit: -1,
    failedJobsHistoryLimit: -1
  }),
  cronJob("restart policy", { jobTemplate: { spec: { template: template() } } }),
  {
    name: "cronjob: a long name",
    path: "apis/batch/v1/cronjobs",
    old: "apis/batch/v1beta1/cronjobs",
    body: {
      metadata: { name: "c".repeat(53) },
      spec: { schedule: "@daily", jobTemplate: { spec: once } }
    }
  },
  budget("both bounds", { minAvailable: 1, maxUnavailable: 1 }, undefined, printed),
  budget("negative", { minAvailable: -1 }),
  budget("above 100%", { maxUnavailable: "101%" }),
  budget("no percentage", { maxUnavailable: "few" })
]

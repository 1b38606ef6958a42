/**
 * Names that are written into manifests, scripts and configuration files: flags, their aliases, variables and defaults, exactly. Further names of the
 * program are not listed. A default that follows from other settings has a test of its own.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Setting } from "../../src/layers/Setting.ts"
import * as SettingSources from "../../src/manager/setting/sources.ts"
import { settings } from "../support/controllers.ts"

const all: ReadonlyArray<Setting<unknown>> = Object.values(settings)

const promised: ReadonlyArray<
  readonly [name: string, aliases: ReadonlyArray<string>, env: string, byDefault: string | undefined]
> = [
  ["kubeconfig", [], "KUBECONFIG", undefined],
  ["context", [], "CM_CONTEXT", undefined],
  ["master", [], "CM_MASTER", undefined],
  ["kube-api-qps", [], "CM_KUBE_API_QPS", "-1"],
  ["kube-api-burst", [], "CM_KUBE_API_BURST", "0"],
  ["kube-api-content-type", [], "CM_KUBE_API_CONTENT_TYPE", "application/json"],
  ["dry-run", [], "CM_DRY_RUN", "false"],
  ["cluster-name", [], "CM_CLUSTER_NAME", "kubernetes"],
  ["watch-namespaces", ["namespace"], "WATCH_NAMESPACE", undefined],
  ["watch-namespace-selector", [], "WATCH_NAMESPACE_SELECTOR", undefined],
  ["sync-period", [], "CM_SYNC_PERIOD", "10h"],
  ["read-your-writes", [], "CM_READ_YOUR_WRITES", "true"],
  ["watch-list", [], "CM_WATCH_LIST", "auto"],
  ["enable-warmup", [], "CM_ENABLE_WARMUP", "true"],
  ["cache-isolation", [], "CM_CACHE_ISOLATION", "independent"],
  ["cache-sync-timeout", [], "CM_CACHE_SYNC_TIMEOUT", "2m"],
  ["controllers", [], "CM_CONTROLLERS", "*"],
  ["feature-gates", [], "CM_FEATURE_GATES", undefined],
  ["controller-start-interval", [], "CM_CONTROLLER_START_INTERVAL", "0s"],
  ["cloud-loops", [], "CM_CLOUD_LOOPS", "external"],
  ["cloud-provider", [], "CM_CLOUD_PROVIDER", undefined],
  ["use-service-account-credentials", [], "CM_USE_SA_CREDENTIALS", "false"],
  ["max-concurrent-reconciles", [], "CM_MAX_CONCURRENT_RECONCILES", "1"],
  ["group-kind-concurrency", [], "CM_GROUP_KIND_CONCURRENCY", undefined],
  ["use-priority-queue", [], "CM_USE_PRIORITY_QUEUE", "true"],
  ["recover-panic", [], "CM_RECOVER_PANIC", "true"],
  ["reconciliation-timeout", [], "CM_RECONCILIATION_TIMEOUT", "5m"],
  ["reconcile-backoff-base", [], "CM_RECONCILE_BACKOFF_BASE", "5ms"],
  ["reconcile-backoff-max", [], "CM_RECONCILE_BACKOFF_MAX", "1000s"],
  ["max-retries", [], "CM_MAX_RETRIES", "0"],
  ["node-monitor-period", [], "CM_NODE_MONITOR_PERIOD", "5s"],
  ["node-monitor-grace-period", [], "CM_NODE_MONITOR_GRACE_PERIOD", "50s"],
  ["node-startup-grace-period", [], "CM_NODE_STARTUP_GRACE_PERIOD", "1m"],
  ["node-eviction-rate", [], "CM_NODE_EVICTION_RATE", "0.1"],
  ["secondary-node-eviction-rate", [], "CM_SECONDARY_NODE_EVICTION_RATE", "0.01"],
  ["large-cluster-size-threshold", [], "CM_LARGE_CLUSTER_SIZE_THRESHOLD", "50"],
  ["unhealthy-zone-threshold", [], "CM_UNHEALTHY_ZONE_THRESHOLD", "0.55"],
  ["pod-count-interval", [], "CM_POD_COUNT_INTERVAL", "10s"],
  ["pod-count-schedule", [], "CM_POD_COUNT_SCHEDULE", "spaced"],
  ["pod-count-node-selector", [], "CM_POD_COUNT_NODE_SELECTOR", undefined],
  ["concurrent-deployment-syncs", [], "CM_CONCURRENT_DEPLOYMENT_SYNCS", "5"],
  ["concurrent-replicaset-syncs", [], "CM_CONCURRENT_REPLICASET_SYNCS", "5"],
  ["concurrent-rc-syncs", [], "CM_CONCURRENT_RC_SYNCS", "5"],
  ["concurrent-daemonset-syncs", [], "CM_CONCURRENT_DAEMONSET_SYNCS", "2"],
  ["concurrent-statefulset-syncs", [], "CM_CONCURRENT_STATEFULSET_SYNCS", "5"],
  ["concurrent-job-syncs", [], "CM_CONCURRENT_JOB_SYNCS", "5"],
  ["concurrent-cron-job-syncs", [], "CM_CONCURRENT_CRON_JOB_SYNCS", "5"],
  ["concurrent-ttl-after-finished-syncs", [], "CM_CONCURRENT_TTL_AFTER_FINISHED_SYNCS", "5"],
  ["concurrent-endpoint-syncs", [], "CM_CONCURRENT_ENDPOINT_SYNCS", "5"],
  ["endpoint-updates-batch-period", [], "CM_ENDPOINT_UPDATES_BATCH_PERIOD", "0s"],
  ["concurrent-service-endpoint-syncs", [], "CM_CONCURRENT_SERVICE_ENDPOINT_SYNCS", "5"],
  ["max-endpoints-per-slice", [], "CM_MAX_ENDPOINTS_PER_SLICE", "100"],
  ["endpointslice-updates-batch-period", [], "CM_ENDPOINTSLICE_UPDATES_BATCH_PERIOD", "0s"],
  ["mirroring-concurrent-service-endpoint-syncs", [], "CM_MIRRORING_CONCURRENT_SERVICE_ENDPOINT_SYNCS", "5"],
  ["mirroring-max-endpoints-per-subset", [], "CM_MIRRORING_MAX_ENDPOINTS_PER_SUBSET", "1000"],
  ["mirroring-endpointslice-updates-batch-period", [], "CM_MIRRORING_ENDPOINTSLICE_UPDATES_BATCH_PERIOD", "0s"],
  ["concurrent-serviceaccount-token-syncs", [], "CM_CONCURRENT_SERVICEACCOUNT_TOKEN_SYNCS", "5"],
  ["service-account-private-key-file", [], "CM_SERVICE_ACCOUNT_PRIVATE_KEY_FILE", undefined],
  ["root-ca-file", [], "CM_ROOT_CA_FILE", undefined],
  ["concurrent-gc-syncs", [], "CM_CONCURRENT_GC_SYNCS", "20"],
  ["concurrent-namespace-syncs", [], "CM_CONCURRENT_NAMESPACE_SYNCS", "10"],
  ["concurrent-resource-quota-syncs", [], "CM_CONCURRENT_RESOURCE_QUOTA_SYNCS", "5"],
  ["resource-quota-sync-period", [], "CM_RESOURCE_QUOTA_SYNC_PERIOD", "5m"],
  ["legacy-service-account-token-clean-up-period", [], "CM_LEGACY_SERVICE_ACCOUNT_TOKEN_CLEAN_UP_PERIOD", "8760h"],
  ["concurrent-horizontal-pod-autoscaler-syncs", [], "CM_CONCURRENT_HORIZONTAL_POD_AUTOSCALER_SYNCS", "5"],
  ["horizontal-pod-autoscaler-sync-period", [], "CM_HORIZONTAL_POD_AUTOSCALER_SYNC_PERIOD", "15s"],
  [
    "horizontal-pod-autoscaler-downscale-stabilization",
    [],
    "CM_HORIZONTAL_POD_AUTOSCALER_DOWNSCALE_STABILIZATION",
    "5m"
  ],
  ["horizontal-pod-autoscaler-tolerance", [], "CM_HORIZONTAL_POD_AUTOSCALER_TOLERANCE", "0.1"],
  [
    "horizontal-pod-autoscaler-cpu-initialization-period",
    [],
    "CM_HORIZONTAL_POD_AUTOSCALER_CPU_INITIALIZATION_PERIOD",
    "5m"
  ],
  [
    "horizontal-pod-autoscaler-initial-readiness-delay",
    [],
    "CM_HORIZONTAL_POD_AUTOSCALER_INITIAL_READINESS_DELAY",
    "30s"
  ],
  ["leader-elect", ["enable-leader-election"], "CM_LEADER_ELECT", undefined],
  ["leader-elect-resource-name", ["leader-election-id"], "CM_LEADER_ELECT_RESOURCE_NAME", "effect-controller-manager"],
  ["leader-elect-resource-namespace", [], "POD_NAMESPACE", undefined],
  ["leader-elect-resource-lock", [], "CM_LEADER_ELECT_RESOURCE_LOCK", "leases"],
  ["leader-elect-lease-duration", [], "CM_LEADER_ELECT_LEASE_DURATION", "15s"],
  ["leader-elect-renew-deadline", [], "CM_LEADER_ELECT_RENEW_DEADLINE", "10s"],
  ["leader-elect-retry-period", [], "CM_LEADER_ELECT_RETRY_PERIOD", "2s"],
  ["leader-elect-on-lost", [], "CM_LEADER_ELECT_ON_LOST", "exit"],
  ["leader-elect-release-on-cancel", [], "CM_LEADER_ELECT_RELEASE", "true"],
  ["metrics-bind-address", ["metrics-addr"], "CM_METRICS_BIND_ADDRESS", ":8080"],
  ["metrics-secure", [], "CM_METRICS_SECURE", "false"],
  ["metrics-cert-path", [], "CM_METRICS_CERT_PATH", undefined],
  ["metrics-cert-name", [], "CM_METRICS_CERT_NAME", "tls.crt"],
  ["metrics-cert-key", [], "CM_METRICS_CERT_KEY", "tls.key"],
  ["health-probe-bind-address", ["health-addr"], "CM_HEALTH_PROBE_BIND_ADDRESS", ":8081"],
  ["skip-webhook-config", [], "CM_SKIP_WEBHOOK_CONFIG", "true"],
  ["webhook-port", [], "CM_WEBHOOK_PORT", "9443"],
  ["webhook-host", [], "CM_WEBHOOK_HOST", undefined],
  ["webhook-cert-path", [], "CM_WEBHOOK_CERT_PATH", undefined],
  ["webhook-cert-name", [], "CM_WEBHOOK_CERT_NAME", "tls.crt"],
  ["webhook-cert-key", [], "CM_WEBHOOK_CERT_KEY", "tls.key"],
  ["webhook-self-signed", [], "CM_WEBHOOK_SELF_SIGNED", "false"],
  ["console-bind-address", [], "CM_CONSOLE_BIND_ADDRESS", "127.0.0.1:8082"],
  ["pprof-bind-address", ["profiling"], "CM_PPROF_BIND_ADDRESS", "0"],
  ["zap-devel", [], "CM_ZAP_DEVEL", "false"],
  ["zap-encoder", [], "CM_ZAP_ENCODER", "json"],
  ["zap-log-level", ["log-level"], "CM_ZAP_LOG_LEVEL", "info"],
  ["zap-stacktrace-level", [], "CM_ZAP_STACKTRACE_LEVEL", "error"],
  ["zap-time-encoding", [], "CM_ZAP_TIME_ENCODING", "rfc3339"],
  ["v", [], "CM_V", "0"],
  ["otlp-endpoint", [], "OTEL_EXPORTER_OTLP_ENDPOINT", undefined],
  ["config", [], "CM_CONFIG", undefined],
  ["graceful-shutdown-timeout", [], "CM_GRACEFUL_SHUTDOWN_TIMEOUT", "30s"],
  ["shutdown-mode", [], "CM_SHUTDOWN_MODE", "drain"]
]

describe("the stable names and the default of a setting", () => {
  for (const [name, aliases, env, byDefault] of promised) {
    it(`--${name}`, () => {
      const setting = all.find((one) => one.name === name)
      assert.isDefined(setting)
      assert.includeMembers([...setting.aliases], [...aliases])
      assert.deepStrictEqual([setting.env, setting.default || undefined], [env, byDefault])
    })
  }
})

describe("ENABLE_WEBHOOKS, which is the opposite of skip-webhook-config", () => {
  const said = (env: Record<string, string>) =>
    Result.map(
      SettingSources.resolve({ skip: settings.skipWebhookConfig }, { flags: new Map(), env }),
      ({ values }) => values.skip
    )

  it("counts when the setting's own variable is not set", () => {
    assert.deepStrictEqual(said({ ENABLE_WEBHOOKS: "false" }), Result.succeed(true))
    assert.deepStrictEqual(said({ ENABLE_WEBHOOKS: "true" }), Result.succeed(false))
    assert.deepStrictEqual(said({ ENABLE_WEBHOOKS: "" }), Result.succeed(true))
    assert.deepStrictEqual(said({ ENABLE_WEBHOOKS: "true", CM_SKIP_WEBHOOK_CONFIG: "true" }), Result.succeed(true))
  })

  it("is named when it cannot be parsed", () => {
    const refused = said({ ENABLE_WEBHOOKS: "perhaps" })
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) assert.match(refused.failure.message, /^ENABLE_WEBHOOKS does not take "perhaps"/)
  })
})

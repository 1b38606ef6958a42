import "./node20.polyfill.ts"
import { defineConfig } from "vitest/config"
import { SlowFirst } from "./test/support/slowFirst.ts"

// Every controller scenario once more, under exactly the roles that are printed for it.
const isUnderRoles = process.env["AUTHORIZATION"] === "RBAC"

const common = {
  setupFiles: ["test/support/seed.ts", ...(isUnderRoles ? ["test/support/underRoles.ts"] : [])],
  testTimeout: 60_000,
  hookTimeout: 60_000
}

/** Longer than a real API server may take to start, whose failure has the end of its log. */
const long = { testTimeout: 180_000, hookTimeout: 180_000 }

/** Bounds of latency, memory or CPU, and files that change the process they run in. */
const bounded = [
  "test/scenario/{leadership,shards}/**/*.test.ts",
  "test/scenario/{badInput,election,endpoints,hostileReconcile,inPlace,leaderFaults,longRun,rollout}.test.ts",
  "test/scenario/{serverFaults,stopAnywhere,stopUnderLoad,sustainedLoad,telemetry}.test.ts",
  "test/platform/{HttpTransport,silence}.test.ts",
  // A module mock, flags of V8, and replaced constructors.
  "test/controllers/metrics.test.ts",
  "test/counts/*.test.ts",
  "test/{kube/printable,streams/watch/trim}.test.ts"
]

/**
 * Bounds that anything else that runs would use up: tasks of a page in a browser and the end of a process after a second signal, of at most 100 ms, and
 * responses beside 128 clients that keep both cores busy.
 */
const alone = ["test/manager/console/page/longTasks.test.ts", "test/scenario/{startStop,webhookAttack}.test.ts"]

/** Programs, kubectl, servers over HTTPS and real time: such a test waits more than it computes. */
const processes = [
  "test/{scenario,clients}/**/*.test.ts",
  "test/conformance/{https,real}.test.ts",
  "test/**/realServer.test.ts",
  "test/testing/envtest/*.test.ts",
  "test/manager/console/page/{accessibility,browser}.test.ts",
  "test/cli/explore/page.test.ts",
  "test/apiserver/{defaults,validation}.test.ts",
  "test/apiserver/**/kubectl.test.ts"
]

// The number of workers is for two cores. Groups run one after the other. Without isolation a process runs many files, so that modules are
// loaded and compiled once; the setup for roles replaces a layer and needs a process for each. Tests with bounds wait most of the time, and
// run apart from those that compute.
export default defineConfig({
  test: {
    globalSetup: ["test/support/globalSetup.ts"],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...common,
          ...long,
          name: "processes",
          include: processes,
          exclude: [...bounded, ...alone],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      { test: { ...common, ...long, name: "bounded", include: bounded, maxWorkers: 3, sequence: { groupOrder: 2 } } },
      { test: { ...common, name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 3 } } },
      {
        test: {
          ...common,
          name: "in-process",
          include: ["test/**/*.test.ts"],
          exclude: [...processes, ...bounded, ...alone],
          isolate: isUnderRoles,
          maxWorkers: 2,
          sequence: { groupOrder: 1 }
        }
      }
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: [
        "src/main.ts",
        "src/index.ts",
        "src/node.ts",
        "src/testing.ts",
        "src/internals.ts",
        // They run in a browser.
        "src/manager/console/page/**",
        "src/cli/explore/page/**"
      ],
      reporter: ["text-summary", "lcov"]
    }
  }
})

import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { check, circles, importsOfModules } from "./support/architecture.ts"
import { checkSkeleton } from "./support/skeleton.ts"

const src = new URL("../src", import.meta.url).pathname

const sources = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
      .map((file) => [file.replaceAll("\\", "/"), readFileSync(join(src, file), "utf8")])
  )

/** One file that breaks each rule, and the rule's name. */
const offenders: ReadonlyArray<readonly [rule: string, file: string, source: string]> = [
  ["every file is in a module", "util/strings.ts", ""],
  ["no barrels: import the module", "streams/X.ts", `import { Effect } from "effect"`],
  ["kube is vocabulary: no layers, no streams", "kube/X.ts", `import * as Layer from "effect/Layer"`],
  ["only these modules use Node", "kube/X.ts", `import { readFileSync } from "node:fs"`],
  ["only these modules use Node", "streams/X.ts", `import { request } from "undici"`],
  ["only these modules use Node", "layers/X.ts", `import { readFile } from "node:fs/promises"`],
  ["only these modules use Node", "apiserver/X.ts", `import { createServer } from "node:https"`],
  ["only these modules use Node", "manager/X.ts", `import { readFile } from "node:fs/promises"`],
  ["only these modules use Node", "manager/webhooks/X.ts", `import type { Socket } from "node:net"`],
  ["only these modules use Node", "layers/X.ts", `const k = await import("@kubernetes/client-node")`],
  [
    "the ladder: lower modules never import higher ones",
    "kube/X.ts",
    `import * as Q from "../streams/queue/KeyedQueue.ts"`
  ],
  ["the ladder: lower modules never import higher ones", "streams/X.ts", `import { Cache } from "../layers/Cache.ts"`],
  ["the ladder: lower modules never import higher ones", "layers/X.ts", `import * as E from "../leader/Election.ts"`],
  ["the ladder: lower modules never import higher ones", "layers/X.ts", `export * from "../controllers/PodCount.ts"`],
  [
    "the ladder: lower modules never import higher ones",
    "leader/X.ts",
    `import * as P from "../controllers/PodCount.ts"`
  ],
  ["the ladder: lower modules never import higher ones", "leader/X.ts", `import { Cache } from "../layers/Cache.ts"`],
  [
    "the ladder: lower modules never import higher ones",
    "controllers/X.ts",
    `import * as E from "../leader/Election.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "controllers/X.ts",
    `import * as M from "../manager/Manager.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "controllers/X.ts",
    `import * as A from "../apiserver/ApiServer.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "apiserver/X.ts",
    `import { KubeClient } from "../KubeClient.ts"`
  ],
  ["the ladder: lower modules never import higher ones", "apiserver/X.ts", `import * as F from "./server/Front.ts"`],
  [
    "the ladder: lower modules never import higher ones",
    "manager/X.ts",
    `import * as K from "../platform/KubeConfig.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "manager/X.ts",
    `import type { Listening } from "../platform/listener/Listener.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "simulation/X.ts",
    `import { ApiServer } from "../apiserver/ApiServer.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "layers/X.ts",
    `import { ApiServer } from "../apiserver/ApiServer.ts"`
  ],
  ["controllers do not know each other", "controllers/Y.ts", `import * as P from "./PodCount.ts"`],
  ["controllers do not know each other", "controllers/y/plan.ts", `import * as P from "../podcount/plan.ts"`],
  ["controllers do not know each other", "controllers/shared/workload/y.ts", `import * as P from "../../PodCount.ts"`],
  [
    "the ladder: lower modules never import higher ones",
    "cli/program.ts",
    `import { registry } from "../controllers/registry.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "manager/console/page/X.tsx",
    `import * as Pages from "../../debug/pages.ts"`
  ],
  [
    "the ladder: lower modules never import higher ones",
    "manager/console/X.ts",
    `import { format } from "./page/format.ts"`
  ],
  ["only these modules use Node", "manager/console/page/X.ts", `import * as Clock from "effect/Clock"`],
  ["entries are not imported", "cli/program.ts", `import * as I from "../index.ts"`]
]

describe("architecture", () => {
  it("the source keeps every rule", () => {
    assert.deepStrictEqual(check(sources()), [])
  })

  it("docs/architecture.md draws the modules as they are", () => {
    const page = readFileSync(new URL("../docs/architecture.md", import.meta.url), "utf8")
    const drawn = Array.from(page.matchAll(/^(\w+) +→(.*)$/gm), ([, module = "", imports = ""]) => [
      module,
      imports.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]))
    ])
    assert.deepStrictEqual(Object.fromEntries(drawn), Object.fromEntries(importsOfModules(sources())))
  })

  it("has no import circles, not of types either", () => {
    assert.deepStrictEqual(circles(sources()), [])
    const files = new Map([
      ["kube/a.ts", `import type { B } from "./b.ts"`],
      ["kube/b.ts", `export * from "./c.ts"`],
      ["kube/c.ts", `import { a } from "./a.ts"`],
      ["kube/d.ts", `import { a } from "./a.ts"`]
    ])
    assert.deepStrictEqual(circles(files), [["kube/a.ts", "kube/b.ts", "kube/c.ts"]])
  })

  for (const [rule, file, source] of offenders) {
    it(`catches: ${rule} (${file}: ${source === "" ? "no module" : source})`, () => {
      assert.deepStrictEqual(
        check(new Map([[file, source]])).map((violation) => violation.rule),
        [rule]
      )
    })
  }

  it("allows a controller to import its own folder and what several loops share", () => {
    const files = new Map([
      ["controllers/ReplicaSet.ts", `import * as P from "./replicaset/plan.ts"`],
      ["controllers/replicaset/plan.ts", `import * as A from "../shared/workload/adopt.ts"`],
      ["controllers/statefulset/plan.ts", `import * as H from "../shared/revisions/history.ts"`],
      ["controllers/shared/workload/claims.ts", `import * as A from "./adopt.ts"`]
    ])
    assert.deepStrictEqual(check(files), [])
  })

  it("keeps files at 400 lines or fewer", () => {
    const long = [...sources()].filter(([, source]) => source.split("\n").length - 1 > 400).map(([file]) => file)
    assert.deepStrictEqual(long, [])
  })
})

/** A declaration without violations, and one that has state. */
const declaration = "const access = [Access.read(Job)]\n\nexport const make = () =>\n  Controller.make({ access })\n"
const stateful =
  "// The triggers lower what the reconcile raises.\nexport const make = () =>\n  Controller.stateful({})\n"

/** A source of forty lines that begins with this one. */
const long = (first: string): string => first + "\n//".repeat(39) + "\n"

/** Files that break a rule of the skeleton, which all others keep. The first file is the one to blame. */
const misplaced: ReadonlyArray<readonly [rule: string, files: Readonly<Record<string, string>>]> = [
  ["a folder has the name of its declaration", { "controllers/jobs/pods.ts": "", "controllers/Job.ts": declaration }],
  [
    "a file is named after the rule or the thing it holds",
    { "controllers/job/helpers.ts": "", "controllers/Job.ts": declaration }
  ],
  ["plan/ holds plan.ts and its rules", { "controllers/job/plan/backoff.ts": "", "controllers/Job.ts": declaration }],
  [
    "plan/ holds plan.ts and its rules",
    {
      "controllers/job/plan/status.ts": long("export const status = 1"),
      "controllers/job/plan/plan.ts": long("export const plan = 1"),
      "controllers/Job.ts": declaration
    }
  ],
  [
    "a standard part has its entry",
    { "controllers/job/plan.ts": long("export const decide = 1"), "controllers/Job.ts": declaration }
  ],
  [
    "a short part stands in the file that uses it",
    {
      "controllers/job/plan.ts": "export const plan = 1\n",
      "controllers/Job.ts": `import * as Plan from "./job/plan.ts"\n${declaration}`
    }
  ],
  [
    "snapshot, plan and status are pure",
    {
      "controllers/job/status.ts": long(`export const status = 1\nimport * as Clock from "effect/Clock"`),
      "controllers/Job.ts": declaration
    }
  ],
  [
    "snapshot, plan and status are pure",
    {
      "controllers/job/plan.ts": long(`export const plan = 1\nimport * as Pods from "./pods.ts"`),
      "controllers/job/pods.ts": `import * as KubeClient from "../../layers/KubeClient.ts"`,
      "controllers/Job.ts": declaration
    }
  ],
  ["a line above make says why it is stateful", { "controllers/Job.ts": stateful.slice(stateful.indexOf("export")) }],
  [
    "access stands above make, or in deps.ts",
    { "controllers/Job.ts": declaration.replace("{ access }", "{ access: [] }") }
  ],
  [
    "access stands above make, or in deps.ts",
    {
      "controllers/Job.ts": declaration,
      "controllers/job/deps.ts": long("export interface Deps {}\nexport const access = []\nexport const depsOf = 1")
    }
  ]
]

describe("the skeleton of a controller", () => {
  it("is that of every controller", () => {
    const violations = checkSkeleton(sources())
    assert.deepStrictEqual(violations, [])
  })

  for (const [rule, files] of misplaced) {
    const [file = ""] = Object.keys(files)
    it(`catches: ${rule} (${file})`, () => {
      const found = checkSkeleton(new Map(Object.entries(files)))
      assert.deepStrictEqual(
        found.map((violation) => [violation.rule, violation.file]),
        [[rule, file]]
      )
    })
  }

  it("allows short parts that two files use, and types of stores in what is pure", () => {
    const files = {
      "controllers/Job.ts": `import * as Plan from "./job/plan.ts"\n${stateful}`,
      "controllers/job/plan.ts": `import type { Index } from "../../layers/Cache.ts"\nexport const plan = 1\n`,
      "controllers/job/sync.ts": long(`import * as Plan from "./plan.ts"\nexport const sync = 1`)
    }
    assert.deepStrictEqual(checkSkeleton(new Map(Object.entries(files))), [])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { check, circles, importsOfModules } from "./support/architecture.ts"

const src = new URL("../src", import.meta.url).pathname

const sources = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
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

/** The real compiler on projects that `create` writes, with this package's sources in place of the package. `npm run consumers` also builds, tests and starts them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { spawnSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Add from "../../../src/cli/create/additions.ts"
import * as Builtin from "../../../src/cli/create/builtin.ts"
import * as Versions from "../../../src/cli/create/versions.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import * as Process from "../../support/process.ts"
import { api, draft, templates } from "./drafts.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

type Step = (from: Add.Draft) => Result.Result<Add.Draft, Add.Refusal>

const webhook =
  (kind: string, type: "defaulting" | "validating"): Step =>
  (from) =>
    Add.webhook(from, templates, { kind, type })

const version =
  (kind: string, to: string, isStored = false): Step =>
  (from) =>
    Versions.version(from, templates, { kind, version: to, isStored })

const controller =
  (name: string, kind: string): Step =>
  (from) =>
    Add.controller(from, templates, { name, for: kind })

/** Every command, in two groups, with kinds whose names are words of the language in lower case. */
const steps: ReadonlyArray<Step> = [
  (from) => api(from, "Class"),
  (from) => api(from, "Target", { isClusterScoped: true }),
  (from) => api(from, "Object", { hasController: false }),
  version("BlogPost", "v1"),
  version("Class", "v2", true),
  version("Class", "v3"),
  version("Object", "v2", true),
  ...["BlogPost", "Class", "Target", "Object"].flatMap((kind) => [
    webhook(kind, "validating"),
    webhook(kind, "defaulting")
  ]),
  controller("targets", "Target"),
  ...[...Builtin.kinds.keys()].map((kind) => controller(`of-${kind.toLowerCase()}`, kind))
]

describe("the files that create writes", () => {
  it.effect("type-check, whatever was added, for every kind of Kubernetes", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      const { files } = Result.getOrThrow(
        steps.reduce<ReturnType<Step>>((from, step) => Result.flatMap(from, step), Result.succeed(draft()))
      )
      for (const [path, text] of files) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
      const entry = (name: string) => [join(root, "src", name)]
      const paths = {
        "effect-controller-manager": entry("index.ts"),
        "effect-controller-manager/node": entry("node.ts"),
        "effect-controller-manager/testing": entry("testing.ts")
      }
      const include = ["src", "test", join(root, "src/platform/http/undici-modules.d.ts")]
      writeFileSync(
        join(folder, "tsconfig.check.json"),
        JSON.stringify({ extends: "./tsconfig.json", compilerOptions: { paths }, include })
      )
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.check.json"],
        { cwd: folder, encoding: "utf8" }
      )
      assert.strictEqual(stdout, "")
      assert.strictEqual(status, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("have an object that an API server accepts, for every kind of Kubernetes", () =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      for (const [name, kind] of Builtin.kinds) {
        const [stored] = yield* apply(Builtin.sampleOf(kind))
        assert.strictEqual(stored?.kind, kind.kind, name)
      }
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

/**
 * The CI workflow and the Renovate configuration of a new project. The workflow is validated by GitHub's own parser. There is no package with Renovate's
 * schema that is small enough to depend on, so the configuration is compared with the keys and presets that it may have.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { pathToFileURL } from "node:url"
import { parse } from "yaml"
import * as Bundle from "../../support/bundle.ts"
import { project } from "./drafts.ts"
import type * as WorkflowErrors from "./workflowErrors.ts"

const files = project()
const text = (path: string): string => files.get(path) ?? ""

const path = ".github/workflows/ci.yaml"

interface Step {
  readonly uses?: string
  readonly run?: string
}

const workflow = parse(text(path)) as {
  readonly permissions: unknown
  readonly jobs: Readonly<
    Record<
      string,
      { readonly "timeout-minutes"?: number; readonly "runs-on": string; readonly steps: ReadonlyArray<Step> }
    >
  >
}

const steps = Object.values(workflow.jobs).flatMap((job) => job.steps)

describe("the CI workflow of a new project", () => {
  it.effect("is valid for GitHub's parser, which refuses an unknown key and a job that does not exist", () =>
    Effect.gen(function* () {
      const bundle = yield* Bundle.make("test/cli/create/workflowErrors.ts")
      const parser: typeof WorkflowErrors = yield* Effect.promise(() => import(pathToFileURL(bundle).href))
      const errorsOf = (content: string) => Effect.promise(() => parser.errorsOf(content))
      assert.deepStrictEqual(yield* errorsOf(text(path)), [])
      assert.isNotEmpty(yield* errorsOf(text(path).replace("timeout-minutes", "timeout-minuets")))
      assert.isNotEmpty(yield* errorsOf(text(path).replace("needs: check", "needs: nothing")))
    }).pipe(Effect.scoped)
  )

  it("may only read, ends in time, and uses actions and runners of a fixed version", () => {
    assert.deepStrictEqual(workflow.permissions, { contents: "read" })
    for (const { "runs-on": runner, "timeout-minutes": timeout } of Object.values(workflow.jobs)) {
      assert.isNumber(timeout)
      assert.match(runner, /-\d+\.\d+$/)
    }
    const actions = steps.flatMap(({ uses }) => uses ?? [])
    assert.isNotEmpty(actions)
    for (const action of actions) assert.match(action, /^actions\/[\w-]+@v\d+\.\d+\.\d+$/)
    assert.notMatch(text(path), /\$\{\{ *secrets|pull_request_target/)
  })

  it("runs scripts that the project has, and builds its image", () => {
    const { scripts } = JSON.parse(text("package.json"))
    const called = steps.flatMap(({ run = "" }) => [...run.matchAll(/npm run (\S+)/g)].map(([, name = ""]) => name))
    assert.includeMembers(called, ["check"])
    for (const name of called) assert.property(scripts, name)
    for (const name of ["typecheck", "test", "build"]) assert.match(scripts.check, new RegExp(`npm (run )?${name}\\b`))
    assert.isTrue(steps.some(({ run = "" }) => run.startsWith("docker build --tag blog-operator:")))
  })
})

describe("the Renovate configuration of a new project", () => {
  it("has known keys and presets, and one group for packages that depend on each other's versions", () => {
    const config = JSON.parse(text("renovate.json"))
    assert.hasAllKeys(config, ["$schema", "extends", "packageRules", "lockFileMaintenance"])
    assert.deepStrictEqual(config.extends, [
      "config:recommended",
      "helpers:pinGitHubActionDigests",
      "docker:pinDigests"
    ])
    for (const rule of config.packageRules) assert.hasAllKeys(rule, ["description", "groupName", "matchPackageNames"])
    const { dependencies } = JSON.parse(text("package.json"))
    for (const name of Object.keys(dependencies)) assert.include(config.packageRules[0].matchPackageNames, name)
  })
})

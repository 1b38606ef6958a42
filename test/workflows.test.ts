/** The workflows in `.github`, which run nowhere but on GitHub: they are valid by GitHub's own parser and schema, and keep the rules of docs/releasing.md. */
import type * as Parser from "@actions/workflow-parser"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { parse } from "yaml"

const root = new URL("..", import.meta.url).pathname
const text = (path: string): string => readFileSync(join(root, path), "utf8")

/** GitHub's parser, bundled: it imports JSON as Node does not. */
const parser = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const bundle = await rolldown({ input: "@actions/workflow-parser", platform: "node", logLevel: "silent" })
      const folder = mkdtempSync(join(tmpdir(), "workflows-"))
      try {
        await bundle.write({ file: join(folder, "parser.mjs"), codeSplitting: false })
        return (await import(join(folder, "parser.mjs"))) as typeof Parser
      } finally {
        await bundle.close()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  )
)

/** What GitHub's parser reports about a workflow; reusable workflows are those of this repository. */
const problemsOf = Effect.fnUntraced(function* (name: string, content: string) {
  const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = yield* parser
  return yield* Effect.promise(async () => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter())
    if (value === undefined) return context.errors.getErrors().map(({ message }) => message)
    const files = {
      getFileContent: async (reference: object) => {
        const path = "path" in reference ? String(reference.path) : ""
        return { name: path, content: text(path) }
      }
    }
    const options = { fetchReusableWorkflowDepth: 1 }
    const { errors = [] } = await convertWorkflowTemplate(context, value, files, options)
    return errors.map(({ Message }) => Message)
  })
})

interface Step {
  readonly id?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}
interface Job {
  readonly needs?: string | ReadonlyArray<string>
  readonly permissions?: Readonly<Record<string, string>>
  readonly outputs?: Readonly<Record<string, string>>
  readonly steps?: ReadonlyArray<Step>
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const read = (file: string) => parse(text(file)) as Workflow
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps)
const files = readdirSync(join(root, ".github/workflows")).map((name) => `.github/workflows/${name}`)

describe("GitHub's parser", () => {
  it.effect.each(files)("reports nothing about %s", (file) =>
    Effect.map(problemsOf(file, text(file)), (problems) => assert.deepStrictEqual(problems, []))
  )

  const faults: ReadonlyArray<readonly [what: string, right: string, wrong: string]> = [
    ["a key that no step has", "        with:", "        wiht:"],
    ["a permission that does not exist", "      id-token: write", "      id-tokens: write"],
    ["a job that does not exist", "needs: [versions, npm, image]", "needs: [versions, npm, imgae]"],
    ["an expression that ends too early", "${{ steps.build.outputs.digest }}", "${{ steps.build.outputs. }}"],
    ["a context that is not there", "${{ github.token }}", "${{ githbu.token }}"]
  ]
  it.effect.each(faults)("reports %s", ([, right, wrong]) => {
    const file = ".github/workflows/release.yml"
    assert.include(text(file), right)
    return Effect.map(problemsOf(file, text(file).replace(right, wrong)), (problems) => assert.isNotEmpty(problems))
  })
})

describe.each(files)("%s", (file) => {
  const workflow = read(file)

  it("runs no action but by a full commit, with its version in a comment", () => {
    const used = [...text(file).matchAll(/uses: (.*)/g)].map(([, reference = ""]) => reference)
    assert.isNotEmpty(used)
    const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    assert.deepStrictEqual(
      used.filter((reference) => !reference.startsWith("./") && !pinned.test(reference)),
      []
    )
  })

  it("uses no stored secret, and puts no expression into a shell command", () => {
    assert.notMatch(text(file), /\bsecrets\./)
    assert.deepStrictEqual(
      stepsOf(workflow).filter(({ run = "" }) => run.includes("${{")),
      []
    )
  })

  it("keeps no credentials of git in a job", () => {
    const kept = /actions\/checkout@\S+ # \S+\n(?! +with:\n(?: +#.*\n| +fetch-depth: 0\n)* +persist-credentials: false)/
    assert.notMatch(text(file), kept)
  })

  it("runs scripts that exist", () => {
    const { scripts } = JSON.parse(text("package.json")) as { readonly scripts: Record<string, string> }
    for (const { run = "" } of stepsOf(workflow)) {
      for (const [, path = ""] of run.matchAll(/(?:^|node )(scripts\/[\w.-]+|\.ci\/run)/gm))
        assert.isTrue(existsSync(join(root, path)), path)
      for (const [, name = ""] of run.matchAll(/npm run ([\w:]+)/g)) assert.property(scripts, name)
    }
  })

  it("reads outputs of jobs that it needs and that set them", () => {
    for (const [name, job] of Object.entries(workflow.jobs)) {
      const needed = [job.needs ?? []].flat()
      for (const [, other = "", output = ""] of JSON.stringify(job).matchAll(/needs\.([\w-]+)\.outputs\.([\w-]+)/g)) {
        assert.include(needed, other, name)
        assert.property(workflow.jobs[other]?.outputs ?? {}, output, `${name} reads ${output} of ${other}`)
      }
      const ids = (job.steps ?? []).map(({ id }) => id)
      for (const [, id = ""] of JSON.stringify(job).matchAll(/steps\.([\w-]+)\.outputs/g)) assert.include(ids, id, name)
    }
  })
})

it("each job of a release has the permissions that it needs, and no other job may write", () => {
  const { jobs, permissions } = read(".github/workflows/release.yml")
  assert.deepStrictEqual(permissions, {})
  const written = Object.entries(jobs).map(([name, job]) => {
    assert.isDefined(job.permissions, name)
    return [name, Object.entries(job.permissions ?? {}).flatMap(([scope, access]) => (access === "write" ? scope : []))]
  })
  assert.deepStrictEqual(Object.fromEntries(written), {
    versions: [],
    ci: [],
    npm: ["id-token"],
    image: ["packages", "id-token", "attestations"],
    notes: ["contents"],
    site: [],
    pages: ["pages", "id-token"]
  })
  assert.deepStrictEqual(read(".github/workflows/ci.yml").permissions, { contents: "read" })
})

it("a release starts with the check of its versions and of the project, before anything is published", () => {
  const { jobs } = read(".github/workflows/release.yml")
  const before = (name: string): ReadonlyArray<string> =>
    [jobs[name]?.needs ?? []].flat().flatMap((one) => before(one).concat(one))
  for (const name of ["npm", "image", "notes", "site", "pages"])
    assert.includeMembers([...before(name)], ["versions", "ci"])
})

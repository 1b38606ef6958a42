/** The image's recipe, as far as it can be checked without a container engine; `npm run image` carries it out. */
import { assert, describe, it } from "@effect/vitest"
import { type Copy, DockerfileParser, type Entrypoint, type PropertyInstruction } from "dockerfile-ast"
import { validate } from "dockerfile-utils"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = new URL("..", import.meta.url).pathname
const text = (path: string): string => readFileSync(join(root, path), "utf8")
const instructionsOf = (path: string) => DockerfileParser.parse(text(path)).getInstructions()

const files = ["Dockerfile", "templates/operator/Dockerfile", "examples/memcached-operator/Dockerfile"]

describe.each(files)("%s", (path) => {
  const instructions = instructionsOf(path)
  const of = (keyword: string) => instructions.filter((one) => one.getKeyword() === keyword)
  const argumentsOf = (keyword: string) => of(keyword).map((one) => one.getArguments().map((word) => word.getValue()))

  it("has nothing that the linter reports", () => {
    assert.isNotEmpty(validate("FORM scratch"))
    assert.deepStrictEqual(validate(text(path)), [])
  })

  it("starts from two bases that are arguments with a tag, the same as in the other images", () => {
    const args = DockerfileParser.parse(text(path))
      .getInitialARGs()
      .map((one) => one.getArgumentsContent())
    assert.deepStrictEqual(args, [
      "BUILD_IMAGE=node:24-bookworm-slim",
      "RUN_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot"
    ])
    assert.deepStrictEqual(
      argumentsOf("FROM").map(([base]) => base),
      ["${BUILD_IMAGE}", "${RUN_IMAGE}"]
    )
  })

  it("runs as a user with a number, or as that of a base image without root", () => {
    const users = argumentsOf("USER").flat()
    if (users.length === 0) assert.match(text(path), /^ARG RUN_IMAGE=\S+:nonroot$/m)
    else assert.deepStrictEqual(users, ["65532:65532"])
  })

  it("has no secret in a variable, an argument or a file that it copies", () => {
    const names = [...of("ARG"), ...of("ENV")].flatMap((one) =>
      (one as PropertyInstruction).getProperties().map((property) => property.getName())
    )
    assert.isNotEmpty(names)
    const copied = argumentsOf("COPY").flat()
    assert.deepStrictEqual(
      [...names, ...copied].filter((name) => /secret|token|passw|credential|\.npmrc|\.env|_key\b/i.test(name)),
      []
    )
    assert.notInclude(copied, ".")
  })

  it("installs the dependencies before it copies what changes more often", () => {
    const order = instructions.map((one) => `${one.getKeyword()} ${one.getArgumentsContent() ?? ""}`)
    const installed = order.findIndex((line) => line.startsWith("RUN") && line.includes("npm ci"))
    const sources = order.findIndex((line) => line.startsWith("COPY src"))
    assert.isAbove(installed, 0)
    assert.isAbove(sources, installed)
  })

  it("starts Node on the program, without a shell", () => {
    const entrypoints = instructions.filter((one): one is Entrypoint => one.getKeyword() === "ENTRYPOINT")
    assert.lengthOf(entrypoints, 1)
    const words = entrypoints[0]?.getJSONStrings().map((word) => word.getJSONValue().replace("/app/", ""))
    assert.deepStrictEqual(
      words?.filter((word) => !word.startsWith("--")),
      ["/nodejs/bin/node", "dist/main.js"]
    )
  })
})

describe("the manager's image", () => {
  it("compiles the program with the flags that it runs with", () => {
    const flags = instructionsOf("Dockerfile")
      .map((one) => one.getArgumentsContent() ?? "")
      .filter((content) => content.includes("/nodejs/bin/node"))
      .map((content) => content.match(/"--max[^"]+"/g))
    assert.lengthOf(flags, 2)
    assert.deepStrictEqual(flags[0], flags[1])
  })

  const copies = instructionsOf("Dockerfile").filter((one): one is Copy => one.getKeyword() === "COPY")
  const fromHere = copies
    .filter((one) => one.getFlags().every((flag) => flag.getName() !== "from"))
    .flatMap((one) =>
      one
        .getArguments()
        .slice(0, -1)
        .map((word) => word.getValue())
    )

  it("copies what exists, and the builder is sent that and nothing else", () => {
    assert.deepStrictEqual(
      fromHere.filter((path) => !existsSync(join(root, path))),
      []
    )
    const [all, ...sent] = text(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
    assert.strictEqual(all, "*")
    assert.deepStrictEqual(sent.map((line) => line.slice(1)).sort(), [...new Set(fromHere)].sort())
  })

  it("has the licences of the program and of what is bundled into it", () => {
    const words = copies.flatMap((one) => one.getArguments().map((word) => word.getValue()))
    assert.includeMembers(words, ["LICENSE", "/app/dist/THIRD-PARTY-NOTICES.txt"])
  })

  it("names its title, licence, version, revision and source", () => {
    const labels = instructionsOf("Dockerfile")
      .filter((one) => one.getKeyword() === "LABEL")
      .flatMap((one) => (one as PropertyInstruction).getProperties())
      .map((label) => label.getName().replace("org.opencontainers.image.", ""))
    assert.deepStrictEqual(labels, ["title", "description", "licenses", "version", "revision", "source"])
  })
})

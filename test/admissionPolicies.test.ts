/** docs/admission-policies.md against the package: its example compiles, and its test is executed here. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { compile, execute } from "./support/userModules.ts"

const page = readFileSync(join(fileURLToPath(new URL("..", import.meta.url)), "docs/admission-policies.md"), "utf8")

const example = /^```ts\n(.*?)^```$/ms.exec(page)?.[1] ?? ""

it("the example of docs/admission-policies.md compiles", () => {
  assert.include(example, "it.effect(")
  assert.deepStrictEqual(compile({ example })["example"], [])
})

// Registers the test of the example in this file.
await execute(example)

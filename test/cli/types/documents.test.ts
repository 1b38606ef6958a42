/** Definitions in texts: where they are found, and which line a fault names. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { read } from "../../../src/cli/types/documents.ts"

const definition = (more = "") => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: foos.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: foos, kind: Foo }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                a.b/c: ${more === "" ? "{ type: string }" : more}
`

const faultsOf = (text: string) => Effect.map(read(text, "crds.yaml"), ({ faults }) => faults.join("\n"))

const namesIn = (text: string) =>
  Effect.map(read(text, "crds.yaml"), ({ faults, found }) => {
    assert.deepStrictEqual(faults, [])
    return found.map((one) => one.definition.metadata.name)
  })

describe("definitions in a text", () => {
  it.effect("are found among other documents, in lists and in JSON", () =>
    Effect.gen(function* () {
      const other = "kind: ConfigMap\n---\n---\n"
      assert.deepStrictEqual(yield* namesIn(`${other}${definition()}`), ["foos.example.com"])
      const indented = definition().replaceAll("\n", "\n    ")
      assert.deepStrictEqual(yield* namesIn(`kind: List\nitems:\n  - kind: Pod\n  - ${indented}`), ["foos.example.com"])
      const { parse } = yield* Effect.promise(() => import("yaml"))
      assert.deepStrictEqual(yield* namesIn(JSON.stringify(parse(definition()), undefined, "\t")), ["foos.example.com"])
    })
  )

  it.effect("name the line of a field that is wrong", () =>
    Effect.gen(function* () {
      assert.match(
        yield* faultsOf(definition("{ minimum: 1 }")),
        /^crds\.yaml:19: foos\.example\.com: .*\[a\.b\/c\]\.type/
      )
      assert.match(yield* faultsOf(`a: 1\n---\n${definition("{ type: nothing }")}`), /^crds\.yaml:21: /)
      assert.match(yield* faultsOf(definition("{ $ref: x }")), /^crds\.yaml:19: .*\$ref is not supported/)
      assert.match(yield* faultsOf(definition().replace("storage: true", "storage: false")), /^crds\.yaml:8: .*storage/)
      assert.match(yield* faultsOf(definition().replace("kind: Foo", "kind: ../Foo")), /^crds\.yaml:7: .*names\.kind/)
      assert.match(yield* faultsOf(definition().replace("foos.ex", "../foos.ex")), /^crds\.yaml:3: .*metadata\.name/)
    })
  )

  it.effect("name line and column of an error of syntax", () =>
    Effect.gen(function* () {
      assert.match(yield* faultsOf(`${definition()}  bad: [\n`), /^crds\.yaml:\d+:\d+: /)
      assert.match(yield* faultsOf("a: 1\na: 2\n"), /^crds\.yaml:2:1: /)
    })
  )

  it.effect("of v1beta1 are refused with the version to use", () =>
    Effect.gen(function* () {
      const old = definition().replace("io/v1", "io/v1beta1")
      assert.match(yield* faultsOf(old), /^crds\.yaml:1: .*apiextensions\.k8s\.io\/v1$/)
    })
  )

  it.effect("are missing: the kinds that there are instead are named", () =>
    Effect.gen(function* () {
      assert.match(yield* faultsOf("kind: Pod\n---\nkind: Service\n"), /"Pod", "Service"$/)
      assert.match(yield* faultsOf("<html></html>"), /no object of Kubernetes$/)
      assert.match(yield* faultsOf(""), /no object of Kubernetes$/)
    })
  )

  it.effect("are not read from aliases that repeat without bound, or from a text without bound in depth", () =>
    Effect.gen(function* () {
      const levels = "abcdefghi".split("").map((name, index, all) => {
        const inner = index === 0 ? "x" : `*${all[index - 1]}`
        return `${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(", ")}]`
      })
      assert.match(yield* faultsOf(levels.join("\n")), /^crds\.yaml:1: Excessive alias count/)
      assert.match(yield* faultsOf("[".repeat(50_000)), /nested too deeply$/)
      assert.match(yield* faultsOf("- ".repeat(50_000)), /^crds\.yaml/)
    })
  )

  it.effect("keep a member __proto__ as a member", () =>
    Effect.gen(function* () {
      yield* faultsOf(`${definition()}  __proto__: { polluted: true }\n`)
      assert.notProperty({}, "polluted")
    })
  )
})

/** Redaction takes linear time for any text, and finds a secret that is cut off at the end. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { clean, redact } from "../../../src/manager/logs/secrets.ts"
import { regexesIn } from "../../support/regexes.ts"
import { compile, steps } from "../../support/regexSteps.ts"
import { runs } from "../../support/runs.ts"

const source = readFileSync(new URL("../../../src/manager/logs/secrets.ts", import.meta.url), "utf8")
const searches = regexesIn(source).map(({ flags, source = "" }) => compile(source, flags))

/** Texts with which the patterns begin, continue and fail. */
const fragment = Arbitrary.schema(
  Schema.Literals([
    "a",
    "E",
    "0",
    "-",
    "_",
    ".",
    "+",
    "/",
    "=",
    ":",
    " ",
    "\n",
    '"',
    "\\",
    "@",
    "…",
    "eyJ",
    "eyJ-",
    "eyJhbGci.",
    "Bearer ",
    "Basic",
    "  ",
    "://",
    "a:b@",
    "aaaaaaaa",
    "........",
    "-----BEGIN ",
    "PRIVATE KEY",
    "-----",
    "-----END ",
    "A A A A A ",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
  ])
)

/** A few fragments, repeated. */
const adversarial = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.array(fragment, { minLength: 1, maxLength: 6 }),
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))),
    Arbitrary.array(fragment, { maxLength: 4 })
  ]),
  ([pump, times, suffix]) => pump.join("").repeat(times) + suffix.join("")
)

describe("redaction", () => {
  it.effect("takes at most 60 steps for a character, of any text", () =>
    Effect.map(
      Arbitrary.checkEffect(
        adversarial,
        (text) => searches.every((search) => steps(search, text) <= 60 * (text.length + 1)),
        { runs: runs(300) }
      ),
      (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    )
  )

  it("searches no more of a text than is shown", () => {
    const text = `${"x".repeat(17_000)} Bearer kU9x-3jd8.fjs93`
    assert.strictEqual(clean(text).length, 16 * 1024 + 1)
  })

  it("redacts a secret that is cut off", () => {
    const secrets = [
      "https://admin:hunter2hunter2@10.0.0.1",
      "Bearer hunter2hunter2",
      "eyJhbGciOiJSUzI1NiJ9.hunter2hunter2",
      "-----BEGIN PRIVATE KEY-----\nhunter2hunter2"
    ]
    for (const secret of secrets) {
      for (let shown = secret.indexOf("hunter2") + 8; shown <= secret.length; shown++) {
        const text = "x ".repeat(8192).slice(shown) + secret
        assert.notInclude(clean(`${text} and more`), "hunter2", `${shown} characters of ${secret}`)
      }
    }
  })

  it("redacts a token in the middle of a word, and leaves other words unchanged", () => {
    assert.strictEqual(redact("v1.token-eyJhbGciOi.eyJzdWIi.c2ln and so on"), "v1.token-<redacted> and so on")
    assert.strictEqual(
      redact("eyJ.eyJ-eyJ.eyJ-eyJ-eyJ.a keyJabcdefg.abcdefg"),
      "eyJ.eyJ-eyJ.eyJ-eyJ-eyJ.a keyJabcdefg.abcdefg"
    )
  })
})

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

  // As kube-apiserver 1.20 writes them for a Job and for a Pod; later versions write JSON.
  const dumps = {
    "an object in Go's syntax": `Job.batch "j" is invalid: spec.template: Invalid value: core.PodTemplateSpec{Spec:core.PodSpec{Env:[]core.EnvVar{core.EnvVar{Name:"A", Value:"s3cret}, {"}}}}: field is immutable`,
    "a difference of two objects": `Pod "p" is invalid: spec: Forbidden: may not change\n  core.PodSpec{\n- \tValue: "s3cret",\n  \t... // 25 identical fields\n  }\n`,
    "a map": `spec.selector: Invalid value: map[string]string{"a":"s3cret"}: field is immutable`,
    "a JSON object": `spec.template: Invalid value: {"spec":{"env":[{"value":"s3cret"}]}}: field is immutable`,
    "a JSON list": `spec.env: Invalid value: [{"value":"s3cret"}]: field is immutable`
  }
  for (const [name, text] of Object.entries(dumps)) {
    it(`removes ${name} that a message quotes, also where it is cut off`, () => {
      assert.notInclude(clean(text), "s3cret")
      assert.match(clean(text), /^(Job|Pod|spec)/)
      assert.strictEqual(clean(text).endsWith("field is immutable"), text.endsWith("field is immutable"))
      for (let at = 1; at < text.length; at++) assert.notInclude(clean(`${text.slice(0, at)}…`), "s3cret")
    })
  }

  it("keeps values that are no objects", () => {
    const text = `spec.name: Invalid value: "Main_1": regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?' {1,63}`
    assert.strictEqual(clean(text), text)
  })
})

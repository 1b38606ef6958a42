/** Named formats. Which texts they accept are facts of apimachinery's validation and of kube-openapi's strfmt. */
import { assert, describe, it } from "@effect/vitest"
import { evaluated, wrong } from "../library/evaluated.ts"

const valid: ReadonlyArray<readonly [string, string]> = [
  ["dns1123Label", "my-label-name"],
  ["dns1123Label", "1a"],
  ["dns1123Subdomain", "apiextensions.k8s.io"],
  ["dns1035Label", "my-label-name"],
  ["qualifiedName", "apiextensions.k8s.io/v1beta1"],
  ["qualifiedName", "My_Name.x"],
  ["dns1123LabelPrefix", "my-label-prefix-"],
  ["dns1123SubdomainPrefix", "mysubdomain.prefix.-"],
  ["dns1035LabelPrefix", "my-label-prefix-"],
  ["labelValue", "my-cool-label-Value"],
  ["labelValue", ""],
  ["uri", "http://example.com"],
  ["uri", "/path"],
  ["uuid", "123e4567-e89b-12d3-a456-426614174000"],
  ["uuid", "123E4567E89B12D3A456426614174000"],
  ["byte", "aGVsbG8="],
  ["date", "2024-02-29"],
  ["datetime", "2021-01-01T00:00:00Z"],
  ["datetime", "2021-01-01t23:59:59.123+02:00"]
]

const invalid: ReadonlyArray<readonly [string, string, string]> = [
  ["dns1123Label", "contains a space", "a lowercase RFC 1123 label must consist of"],
  ["dns1123Label", "a.b", "a lowercase RFC 1123 label must consist of"],
  ["dns1123Subdomain", "contains a space", "a lowercase RFC 1123 subdomain must consist of"],
  ["dns1035Label", "1a", "a DNS-1035 label must consist of"],
  ["qualifiedName", "contains a space", "name part must consist of"],
  ["dns1123LabelPrefix", "contains a space-", "a lowercase RFC 1123 label must consist of"],
  ["dns1123SubdomainPrefix", "contains a space-", "a lowercase RFC 1123 subdomain must consist of"],
  ["dns1035LabelPrefix", "1-", "a DNS-1035 label must consist of"],
  ["labelValue", "a!", "a valid label must be an empty string or consist of"],
  ["uri", "relative", 'parse \\"relative\\": invalid URI for request'],
  ["uuid", "123e4567", "does not match the UUID format"],
  ["byte", "aGVsbG8", "invalid base64"],
  ["byte", "", "invalid base64"],
  ["date", "2020-01-32", "invalid date"],
  ["date", "2023-02-29", "invalid date"],
  ["datetime", "2020-01-32T00:00:00Z", "invalid datetime"],
  ["datetime", "2020-01-01T24:00:00Z", "invalid datetime"],
  ["datetime", "2020-01-01 00:00:00Z", "invalid datetime"]
]

const names = [...new Set(valid.map(([name]) => name))]

describe("a named format", () => {
  it("finds nothing wrong with a text that meets it", () => {
    assert.deepStrictEqual(wrong(valid.map(([name, text]) => [`format.${name}().validate('${text}')`, "none"])), [])
  })

  it("says what is wrong with any other text", () => {
    for (const [name, text, problem] of invalid) {
      assert.include(evaluated(`format.${name}().validate('${text}')`), `some ["${problem}`, `${name} ${text}`)
    }
  })

  it("is found by its name, and equals itself only", () => {
    assert.strictEqual(names.length, 13)
    assert.deepStrictEqual(
      wrong([
        ...names.map((name) => [`format.named('${name}').value() == format.${name}()`, "true"] as const),
        ...names.slice(1).map((name) => [`format.${names[0]}() == format.${name}()`, "false"] as const),
        ["format.named('unknown').hasValue()", "false"],
        ["format.unknown()", "refused: undeclared reference to 'format' (in container '')"]
      ]),
      []
    )
  })
})

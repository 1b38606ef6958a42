/** Similar JSON values, with keys that are special in pointers and prototypes. */
import * as Schema from "effect/Schema"

type Json = Schema.Json

const names = ["a", "a/b", "a~b", "~1", "", "0", "constructor"]
const leaf = Schema.NullOr(Schema.Literals([true, 0, 1, "", "a", "é"]))

export const json = (depth: number): Schema.Codec<Json> => {
  if (depth === 0) return leaf
  const inner = json(depth - 1)
  const fields = Object.fromEntries(names.map((name) => [name, Schema.optionalKey(inner)]))
  const list = Schema.Array(inner).check(Schema.isMaxLength(3))
  return Schema.Union([leaf, Schema.Struct(fields), list]) as unknown as Schema.Codec<Json>
}
